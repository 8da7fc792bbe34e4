"""Decide which citations are of the same work, and rank works by who cites whom.

Parsing of citation text, pair features, the shipped matcher, grouping and HITS scores live here.
Reading references out of papers is in `papers`; saving groups and scores is in `store` and `app.papers`.
"""
