-- Which classes of tasks have results? One value per row.
SELECT DISTINCT task_class FROM checks_in_force
WHERE task_class != '' AND $__conditionalAll(project IN (${project:singlequote}), $project)
ORDER BY task_class
