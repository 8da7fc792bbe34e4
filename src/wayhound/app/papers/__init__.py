"""Use cases of papers: files become records and a citation graph, which people correct and models learn from.

Here: adding and reading files, corrections, training, grouping of citations, overviews. Not here: how a paper is
read (`papers`), how citations are matched (`citations`), how any of it is shown (`cli`, `portal`).
"""
