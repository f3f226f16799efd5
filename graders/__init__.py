"""The verdicts: checks over a run. Pure: imports semconv only."""
