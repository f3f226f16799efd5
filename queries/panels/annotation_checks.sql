-- When did other checks come into force? One row per registered set of checks.
SELECT registered_at AS time, concat('checks ', substring(digest, 1, 12), ' in force') AS text, 'checks' AS tags
FROM checks_versions FINAL
WHERE $__timeFilter_ms(registered_at)
ORDER BY time
LIMIT 100
