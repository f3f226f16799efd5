"""Everything kept: spans and logs as received, gradings, outcomes. `store.py` is the way in; SQL lives in queries/."""
