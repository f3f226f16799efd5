-- Which services made runs in the last 90 days? One value per row.
SELECT DISTINCT service FROM day_counts
WHERE service NOT IN ('', 'passhat-doctor') AND day >= now() - INTERVAL 90 DAY AND $__conditionalAll(project IN (${project:singlequote}), $project)
ORDER BY service
