"""Models that judge: asked beside grading, never in it.

A `judge` check grades as `unknown` until `judgements` holds an answer to exactly what the run now shows. `asking`
follows what was graded, asks and stores; `answers` puts what is stored into the next grading.
"""
