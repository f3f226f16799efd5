-- How far grading has come: what was stored before at_ns (the store's clock) was graded, or asked for again since.
-- One row, the greatest at_ns. A collector that starts looks from there, however long none ran.
CREATE TABLE IF NOT EXISTS grading_marks
(
    at_ns UInt64
)
ENGINE = ReplacingMergeTree(at_ns)
ORDER BY tuple()
