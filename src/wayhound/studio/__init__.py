"""The operator's pages: trails, training, ratings, runs, review. On this machine alone, with a token."""
