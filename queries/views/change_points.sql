-- When did a task's pass rate change in [start, end)?
-- One row per project, task_id, task_version, checks_version, basis with trials on five days or more. change: 'drop', 'rise',
-- or '' where none is shown; changed_on: the likeliest first UTC day of the new rate; n, c before it and from it on.
-- Formula: evidence = log(mean over all splits of the days in two of mixture(before) mixture(after)) - log(p^c (1 - p)^(n - c))
-- at p = c / n, mixture as betaMixture. Were the rate constant, exp(evidence) would be 1 / alpha or more at one look in 1 / alpha
-- at most, wherever the split. A change is marked at log(tasks / 0.05), where tasks is how many rows of the project and basis
-- are looked at: any false mark among all of them happens at one look in twenty at most.
-- Counts are divided by deff, the day-to-day design effect within the two parts.
CREATE OR REPLACE VIEW change_points AS
SELECT
    project, task_id, task_version, checks_version, basis, task_class, task_source,
    multiIf(evidence < log(tasks / 0.05), '', c_after * n_before < c_before * n_after, 'drop', 'rise') AS change,
    if(change = '', NULL, day_of[split + 1]) AS changed_on,
    n_before, c_before, n_after, c_after, deff, evidence, tasks, days, 'look' AS guarantee
FROM
(
    SELECT
        *, count() OVER (PARTITION BY project, basis) AS tasks,
        arrayMap((some_n, some_c) -> betaMixture(some_n / deff, some_c / deff)
            + betaMixture((n - some_n) / deff, (c - some_c) / deff), n_to, c_to) AS parts,
        arrayMax(parts) AS most,
        most + log(arrayAvg(part -> exp(part - most), parts))
            - (if(c > 0, c * log(c / n), 0.) + if(c < n, (n - c) * log(1 - c / n), 0.)) / deff AS evidence
    FROM
    (
        SELECT
            *,
            arrayMap((some_n, some_c) -> betaMixture(some_n, some_c) + betaMixture(n - some_n, c - some_c), n_to, c_to) AS likely,
            indexOf(likely, arrayMax(likely)) AS split,
            n_to[split] AS n_before, c_to[split] AS c_before, n - n_before AS n_after, c - c_before AS c_after,
            arraySum(arraySlice(squares, 1, split)) AS squares_before, arraySum(squares) - squares_before AS squares_after,
            greatest(1., (
                if(c_before > 0 AND c_before < n_before, (squares_before - c_before * c_before / n_before)
                    / (c_before / n_before * (1 - c_before / n_before)), 0.)
                + if(c_after > 0 AND c_after < n_after, (squares_after - c_after * c_after / n_after)
                    / (c_after / n_after * (1 - c_after / n_after)), 0.)) / (days - 2)) AS deff
        FROM
        (
            SELECT
                project, task_id, task_version, checks_version, basis,
                argMax(class, day) AS task_class, if(max(named), 'attribute', 'fallback') AS task_source,
                arraySort(groupArray((day, toFloat64(n_), toFloat64(c_)))) AS by_day, length(by_day) AS days,
                arrayMap(one -> one.1, by_day) AS day_of,
                arrayMap(one -> one.3 * one.3 / one.2, by_day) AS squares,
                toFloat64(sum(n_)) AS n, toFloat64(sum(c_)) AS c,
                arrayPopBack(arrayCumSum(one -> one.2, by_day)) AS n_to,
                arrayPopBack(arrayCumSum(one -> one.3, by_day)) AS c_to
            FROM
            (
                SELECT
                    project, task_id, task_version, checks_version, basis, toDate(at) AS day,
                    any(task_class) AS class, max(task_source != 'fallback') AS named, sum(n) AS n_, sum(c) AS c_
                FROM counts_between(start={start:DateTime64(3, 'UTC')}, end={end:DateTime64(3, 'UTC')}) AS counts
                GROUP BY project, task_id, task_version, checks_version, basis, day
                HAVING n_ > 0
            )
            GROUP BY project, task_id, task_version, checks_version, basis
            HAVING days >= 5
        )
    )
)
