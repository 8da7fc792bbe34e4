"""Use cases of facts: values of entities, read from the pages that were found, ordered by what people ask for.

Here: what is looked for, extraction, costly extractors within a budget, the agenda, corrections, tables. Not here: how
a page is read and entities are brought together (`entities`), how any of it is shown (`cli`, `studio`, `portal`).
"""
