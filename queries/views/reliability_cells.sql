-- How many trials of each cell ended in [start, end)? For rates over any filter:
--   SELECT task_id, passHatK(sum(n), sum(c), 3) FROM reliability_cells(start=…, end=…) WHERE model = 'm'
--   GROUP BY task_id, task_version, checks_version, basis
-- One row per cell of the whole grain. All counts are additive; never sum over task_version, checks_version or basis.
CREATE OR REPLACE VIEW reliability_cells AS
SELECT
    project, environment, service, service_version, agent, model, task_class, task_id, task_version, checks_version, basis,
    task_source,
    sum(n) AS n, sum(c) AS c, sum(attempted) AS attempted, sum(errors) AS errors, sum(invalid) AS invalid,
    sum(unknown) AS unknown, sum(incomplete) AS incomplete, sum(pending) AS pending, sum(pass) AS pass, sum(fail) AS fail,
    sum(awaiting_outcome) AS awaiting_outcome, sum(nothing_judged) AS nothing_judged, sum(evidence) AS evidence
FROM counts_between(start={start:DateTime64(3, 'UTC')}, end={end:DateTime64(3, 'UTC')}) AS counts
GROUP BY
    project, environment, service, service_version, agent, model, task_class, task_id, task_version, checks_version, basis,
    task_source
