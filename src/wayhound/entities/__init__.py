"""Pages become facts: kinds, extractors, rules taught by example, the consensus graph, and the extraction agenda.

Pure: no network, SQL, files or clock. Not here: where facts are kept (`store/facts.py`), use cases (`app/facts`).
"""
