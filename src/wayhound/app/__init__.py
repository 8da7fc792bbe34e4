"""Use cases: one module or package for each thing that a person can do."""
