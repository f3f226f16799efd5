-- How trials are counted now.
-- One row. errors_fail, incomplete_fail: such trials count as failed; retries_count: so do trials that repeat a failed one.
CREATE OR REPLACE VIEW policy_in_force AS
SELECT
    maxIf(value, name = 'errors') = 'fail' AS errors_fail,
    maxIf(value, name = 'incomplete') = 'fail' AS incomplete_fail,
    maxIf(value, name = 'retries') = 'all' AS retries_count
FROM policy FINAL
