"""The words: what a span means, whichever harness emitted it.

Pure: no I/O, no clock, no randomness. `collector` and `graders` import this package, never the reverse.
"""
