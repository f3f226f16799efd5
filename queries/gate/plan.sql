-- Question: how many trials does it take to show that pass^k is at least {min}, when the true pass rate is {p}?
-- Grain: one row. in_a_row: trials without any failure, for a gate (holds for a year of looks); in_a_row_look: for one look
-- over a sliding window. typical: the fewest trials n of which p n passed (rounded down) whose low end reaches the minimum;
-- NULL where a million are not enough: p^k is not above the minimum, or too near to it.
WITH
    (
        SELECT arrayFirst(n -> gateLow(n, floor(n * {p:Float64}), {k:UInt32}, 1., {alpha:Float64}) >= {min:Float64},
            arrayMap(i -> toUInt64(round(exp2(i / 64))), range(64 * 20 + 1)))
    ) AS rough
SELECT
    csNeeded(0, 0, {k:UInt32}, 1., {alpha:Float64}, {min:Float64}) AS in_a_row,
    csNeeded(0, 0, {k:UInt32}, 1., 53 * {alpha:Float64}, {min:Float64}) AS in_a_row_look,
    nullIf(
        (
            SELECT min(n)
            FROM (SELECT number AS n FROM numbers(1, 1048576) WHERE number <= rough)
            WHERE gateLow(n, floor(n * {p:Float64}), {k:UInt32}, 1., {alpha:Float64}) >= {min:Float64}
        ), 0) AS typical
