-- Why do runs not count? Runs of the range that are neither passed nor failed, by result and reason.
-- awaiting_outcome: report one. nothing_judged: no gating check fits the task. evidence: arguments or results were cut or
-- not captured. incomplete: the root span never came.
SELECT result, reason, count() AS runs, max(ended) AS latest
FROM trials
WHERE $__timeFilter_ms(ended) AND result NOT IN ('pass', 'fail')
    AND $__conditionalAll(project IN (${project:singlequote}), $project)
    AND $__conditionalAll(task_class IN (${class:singlequote}), $class)
    AND $__conditionalAll(task_id IN (${task:singlequote}), $task)
GROUP BY result, reason
ORDER BY runs DESC, result, reason
