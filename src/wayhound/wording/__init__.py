"""Sentences and labels that people read, as plain strings, shared by command line, studio and portal.

One module per noun: `faults`, `labels`, `reasons`, `runs`, `training`, `trails`, `papers` …
Not here: layout (colours, tables, HTML), help texts, and the messages of exceptions, which are written where raised.
"""
