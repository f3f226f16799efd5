-- Question: did pass^k move from the window before to this one, or does it differ between two models, agents or versions?
-- Grain: one row per basis. Only tasks with k trials on both sides, of one version and one checks version, are compared:
-- each with itself. difference: the mean over tasks of pass^k now less pass^k before; low, high: its 95 % t interval with one
-- pseudo-task at -1 (low) and one at 1 (high), NULL under 8 tasks. tasks: (task_id, before, now, moved, n and c before, n and c
-- now), the greatest drop first. moved: 'worse' or 'better' where the sequences of both pass rates at 0.05 / (2 tasks) do not
-- overlap: with so many ends looked at, any of them is wrong at one look in twenty at most. '' is "not shown", not "equal".
-- now_rates, before_rates stand for task_reliability over the two sides.
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
    arrayMap(t -> (t.2, t.3, t.4, t.5, t.6, t.7, t.8, t.9), arraySort(groupArray(
        (now_hat - before_hat, task_id, before_hat, now_hat, moved, before_n, before_c, now_n, now_c)))) AS tasks
FROM
(
    SELECT
        now.basis AS basis, now.task_id AS task_id, assumeNotNull(now.pass_hat_k) AS now_hat,
        assumeNotNull(before.pass_hat_k) AS before_hat,
        now.n AS now_n, now.c AS now_c, before.n AS before_n, before.c AS before_c,
        0.05 / (2 * count() OVER (PARTITION BY now.basis)) AS alpha,
        multiIf(
            csHigh(now_n / now.deff, now_c / now.deff, alpha) < csLow(before_n / before.deff, before_c / before.deff, alpha),
            'worse',
            csLow(now_n / now.deff, now_c / now.deff, alpha) > csHigh(before_n / before.deff, before_c / before.deff, alpha),
            'better', '') AS moved
    FROM now_rates AS now
    INNER JOIN before_rates AS before
        ON now.project = before.project AND now.task_id = before.task_id AND now.task_version = before.task_version
        AND now.checks_version = before.checks_version AND now.basis = before.basis
    WHERE now.pass_hat_k IS NOT NULL AND before.pass_hat_k IS NOT NULL AND now.task_source != 'fallback'
)
GROUP BY basis
ORDER BY basis
