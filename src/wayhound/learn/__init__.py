"""Estimators: arrays in, arrays out, with scikit-learn's manners (`fit` returns self, learned state ends in `_`).

Not here: files, pages, clocks, network. Saving a model belongs to the room that uses it and to `store/`.
"""

import os

# Our arrays are small: OpenBLAS threads gain nothing on them and wait for each other in a busy loop, which made
# learning thirty times slower on a busy machine. OpenBLAS reads this once, when numpy is first imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
