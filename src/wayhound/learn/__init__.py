"""Estimators: arrays in, arrays out; no files, no pages, no network."""

import os

# Our arrays are small: threads of OpenBLAS gain nothing on them, and wait for each other in a busy loop. With
# other work on the machine that made learning thirty times slower. It asks once, when numpy is first imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
