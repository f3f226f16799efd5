-- When did a version of an agent's service have its first trial? One row per service and version first seen in the range.
SELECT min(hour) AS time, concat('new version: ', service, ' ', service_version) AS text, 'version' AS tags
FROM hour_counts FINAL
WHERE service_version != '' AND pass + fail + error + invalid + awaiting_outcome + nothing_judged + evidence + incomplete > 0
    AND $__conditionalAll(project IN (${project:singlequote}), $project)
GROUP BY service, service_version
HAVING $__timeFilter_ms(time)
ORDER BY time, text
LIMIT 100
