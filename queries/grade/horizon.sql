-- From when on may something be stored that was not graded? By the store's clock, in ns.
-- One row: the mark of grading, and the oldest arrival that is kept; 0 where there is none.
SELECT (SELECT max(at_ns) FROM grading_marks), (SELECT toUnixTimestamp64Nano(min(stored_at)) FROM arrivals)
