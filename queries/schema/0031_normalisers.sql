-- Registered sets of words (dialects, task attributes, outcome events): the greatest generation is in force.
-- One row per generation. Rows of spans and logs carry the generation that found their facts in the low 12 bits of
-- their version, and so does a run's revision: a replay of a corrected dialect is ordered, however long ago it was sent.
CREATE TABLE IF NOT EXISTS normalisers
(
    generation UInt32,
    digest String,
    registered_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(registered_at)
ORDER BY generation
