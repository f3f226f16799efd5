-- Which tasks have results? One value per row, the newest first seen first.
SELECT task_id FROM task_versions
WHERE task_id != 'passhat doctor' AND $__conditionalAll(project IN (${project:singlequote}), $project)
GROUP BY task_id
ORDER BY max(first_ended) DESC, task_id
LIMIT 1000
