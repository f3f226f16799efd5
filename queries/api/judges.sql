-- Question: how far do the judges agree with people?
-- Grain: one row per project, check_id and check_version that has judged a run.
SELECT *
FROM judge_calibration
WHERE empty({project:Array(String)}) OR project IN {project:Array(String)}
ORDER BY project, check_id, judged DESC, check_version
