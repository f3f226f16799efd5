-- Each task's trials in [start, end) as a suite counts them, by class and over all classes.
-- One row per project, suite (a task_class, or all), basis, task: only its newest task version with trials in the window
-- (the one first seen last; of two seen in the same millisecond the later by name) and the checks version in force count;
-- those of older versions are superseded, those judged by other checks (until they are regraded) other_checks.
-- whole: the row belongs to the suite of all classes.
CREATE OR REPLACE VIEW suite_tasks AS
WITH
    seen AS
    (
        SELECT *, max((first_ended, task_version)) OVER (PARTITION BY project, task_id) AS newest_of_task
        FROM
        (
            SELECT
                project, task_class, task_source, task_id, task_version, checks_version, basis,
                sum(n_) AS trials, sum(c_) AS passed, sum(attempted_) AS tried,
                groupArrayIf((day, n_, c_), n_ > 0) AS by_day
            FROM
            (
                SELECT
                    project, task_class, task_source, task_id, task_version, checks_version, basis, toDate(at) AS day,
                    sum(n) AS n_, sum(c) AS c_, sum(attempted) AS attempted_
                FROM counts_between(start={start:DateTime64(3, 'UTC')}, end={end:DateTime64(3, 'UTC')}) AS counts
                GROUP BY project, task_class, task_source, task_id, task_version, checks_version, basis, day
            )
            GROUP BY project, task_class, task_source, task_id, task_version, checks_version, basis
        ) AS counted
        LEFT JOIN
        (
            SELECT project, task_id, task_version, min(first_ended) AS first_ended
            FROM task_versions
            GROUP BY project, task_id, task_version
        ) AS versions USING (project, task_id, task_version)
    ),
    forced AS
    (
        SELECT project, task_id, task_class, checks_version AS version_in_force, true AS known
        FROM checks_in_force FINAL
    )
SELECT
    project, suite.1 AS task_class, suite.2 AS whole, basis, task_id, task_source,
    sumIf(trials, newest AND in_force) AS n, sumIf(passed, newest AND in_force) AS c,
    sumIf(tried, NOT newest) AS superseded, sumIf(tried, newest AND NOT in_force) AS other_checks,
    groupArrayArrayIf(by_day, newest AND in_force) AS days
FROM
(
    SELECT *, (first_ended, task_version) = newest_of_task AS newest, NOT known OR checks_version = version_in_force AS in_force,
        arrayJoin([(task_class, false), ('all', true)]) AS suite
    FROM seen
    LEFT JOIN forced USING (project, task_id, task_class)
)
GROUP BY project, suite, basis, task_id, task_source
