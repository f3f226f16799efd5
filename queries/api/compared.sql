-- Question: did pass^k move from the window before to this one?
-- Grain: one row per basis. Only tasks with k trials in both windows, of one version and one checks version, are compared:
-- each with itself. difference: the mean over tasks of pass^k now less pass^k before; low, high: its 95 % t interval with one
-- pseudo-task at -1 (low) and one at 1 (high), NULL under 8 tasks. tasks: (task_id, before, now), the greatest drop first.
-- now_rates, before_rates stand for task_reliability over the two windows.
SELECT
    basis, count() AS tasks_used, avg(now_hat) AS pass_hat_k, avg(before_hat) AS pass_hat_k_before,
    avg(now_hat - before_hat) AS difference,
    arraySort(groupArray(now_hat - before_hat)) AS differences,
    if(tasks_used < 8, NULL, greatest(-1., least(difference, tupleElement(
        arrayReduce('studentTTestOneSample(0.95)', arrayPushBack(differences, -1.), arrayResize([0.], length(differences) + 1, 0.)),
        'confidence_interval_low')))) AS low,
    if(tasks_used < 8, NULL, least(1., greatest(difference, tupleElement(
        arrayReduce('studentTTestOneSample(0.95)', arrayPushBack(differences, 1.), arrayResize([0.], length(differences) + 1, 0.)),
        'confidence_interval_high')))) AS high,
    arrayMap(t -> (t.2, t.3, t.4), arraySort(groupArray((now_hat - before_hat, task_id, before_hat, now_hat)))) AS tasks
FROM
(
    SELECT now.basis AS basis, now.task_id AS task_id, assumeNotNull(now.pass_hat_k) AS now_hat,
        assumeNotNull(before.pass_hat_k) AS before_hat
    FROM now_rates AS now
    INNER JOIN before_rates AS before
        ON now.project = before.project AND now.task_id = before.task_id AND now.task_version = before.task_version
        AND now.checks_version = before.checks_version AND now.basis = before.basis
    WHERE now.pass_hat_k IS NOT NULL AND before.pass_hat_k IS NOT NULL AND now.task_source != 'fallback'
)
GROUP BY basis
ORDER BY basis
