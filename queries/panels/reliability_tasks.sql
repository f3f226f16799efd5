-- Which tasks are reliable? One row per task, version, checks and basis, over the time range; the least reliable first.
-- change: pass^k minus that of the range before, of equal length. low, high: 95 % per look. worst: all that was left out
-- counted as failed. flag: never_passes (look at the task), too_few (n below k), flaky (passes and fails by turns),
-- clustered_unknown (under five days of data), shared_workspace (trials saw each other's files).
SELECT
    t.task_id AS task, t.task_version AS version, t.n AS n, t.c AS passed,
    passHatK(t.n, t.c, 1) AS pass_1, t.pass_at_k AS pass_at_k, t.pass_hat_k AS pass_hat_k, t.low AS low, t.high AS high,
    t.pass_hat_k - before.pass_hat_k AS change, t.pass_hat_k_worst AS worst, t.flag AS flag,
    t.errors + t.unknown + t.invalid + t.incomplete AS left_out,
    t.task_class AS class, t.checks_version AS checks, t.project AS project
FROM task_reliability(start = $__fromTime_ms, end = $__toTime_ms, k = ${k}) AS t
LEFT JOIN
(
    SELECT project, task_id, task_version, checks_version, basis, pass_hat_k
    FROM task_reliability(
        start = fromUnixTimestamp64Milli(toInt64(2 * toUnixTimestamp64Milli($__fromTime_ms) - toUnixTimestamp64Milli($__toTime_ms))),
        end = $__fromTime_ms, k = ${k}) AS earlier
) AS before USING (project, task_id, task_version, checks_version, basis)
WHERE t.basis = ${basis:singlequote}
    AND $__conditionalAll(t.project IN (${project:singlequote}), $project)
    AND $__conditionalAll(t.task_class IN (${class:singlequote}), $class)
    AND $__conditionalAll(t.task_id IN (${task:singlequote}), $task)
ORDER BY pass_hat_k ASC NULLS LAST, n DESC, task
LIMIT 1000
SETTINGS join_use_nulls = 1
