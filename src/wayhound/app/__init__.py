"""Use cases: one module or package for each thing that a person can do (teach, train, forage, explain, review …).

They join capabilities, archive, network and store, and are called by command line, studio, portal and the public API.
Sentences for people live in `wording`, layout in `cli`, `studio` and `portal`, SQL in `store`.
"""

from collections.abc import Callable

OnProgress = Callable[[str, int, int], None]
"""Called with what is being done, and how many of how many parts of it are done."""
