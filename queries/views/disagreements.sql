-- Where do the outcome and the trajectory of a run differ?
-- One row per run that ended in [start, end) with one of them passed and the other failed.
CREATE OR REPLACE VIEW disagreements AS
SELECT
    project, run_id, task_id, task_version, task_class, outcome, trajectory, calls,
    if(outcome = 'pass', 'right_answer_bad_path', 'good_path_wrong_answer') AS meaning,
    result, ended, environment, service, service_version, agent, model, checks_version, basis, trial_id
FROM trials
WHERE outcome IN ('pass', 'fail') AND trajectory IN ('pass', 'fail') AND outcome != trajectory
    AND ended >= {start:DateTime64(3, 'UTC')} AND ended < {end:DateTime64(3, 'UTC')}
