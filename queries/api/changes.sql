-- Question: which tasks' pass rates changed in the window, and on which day?
-- Grain: one row per row of change_points with a change, drops first, the strongest evidence first.
-- changes stands for change_points over filtered counts.
SELECT
    project, task_id, task_version, checks_version, basis, change, changed_on, n_before, c_before, n_after, c_after, deff,
    evidence, tasks, guarantee
FROM changes AS found
WHERE change != ''
ORDER BY change, evidence DESC, project, task_id, task_version, checks_version, basis
