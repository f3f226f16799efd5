-- What happened? The numbered lines that the checks read; long texts are cut here, passhat shows them whole.
SELECT
    n, role, tool, status, substring(if(role = 'assistant' AND tool != '', input, if(output != '', output, text)), 1, 2000) AS content,
    if(start_ns > 0 AND end_ns > start_ns, (end_ns - start_ns) / 1e6, NULL) AS duration_ms, agent, depth, error, trace_id AS trace, span_id AS span
FROM trace_lines FINAL
WHERE run_id = ${run:singlequote} AND role != ''
    AND (project, run_id, version) IN (SELECT project, run_id, version FROM trials WHERE run_id = ${run:singlequote})
ORDER BY n
LIMIT 2000
