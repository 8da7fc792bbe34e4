"""Text operations that several capabilities share, one implementation each.

Here: accent folding, singulars, years and page ranges, personal names. Not here: word lists and models of
papers (`papers`), tokenisation of pages (`words`).
"""
