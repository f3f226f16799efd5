-- What happened? The numbered lines that the checks read; long texts are cut here, passhat shows them whole.
SELECT
    n, role, tool, if(status = 'unset', '', status) AS status,
    substringUTF8(
        multiIf(role = 'assistant' AND tool != '', input, output = '', text, JSONType(output) = 'String', JSONExtractString(output), output),
        1, 2000) AS content,
    if(start_ns > 0 AND end_ns > start_ns, (end_ns - start_ns) / 1e6, NULL) AS duration_ms, agent, depth, error, trace_id AS trace, span_id AS span
FROM trace_lines FINAL
WHERE run_id = ${run:singlequote} AND role != ''
    AND (project, run_id, version) IN (SELECT project, run_id, version FROM trials WHERE run_id = ${run:singlequote})
ORDER BY n
LIMIT 2000
