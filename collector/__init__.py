"""The machine: receive, spool, store, assemble, grade, serve. Start reading at `collector/pipeline.py`."""
