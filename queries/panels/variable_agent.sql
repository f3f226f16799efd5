-- Which agents made runs in the last 90 days? One value per row.
SELECT DISTINCT agent FROM day_counts
WHERE agent != '' AND service != 'passhat-doctor' AND day >= now() - INTERVAL 90 DAY AND $__conditionalAll(project IN (${project:singlequote}), $project)
    AND $__conditionalAll(service IN (${service:singlequote}), $service)
ORDER BY agent
