"""Use cases of link chains: learn a relationship between pages from examples, and extract its instances.

Here: pages and examples to learn from, learning and extraction, records for the portal, exports. Not here: how rules
are learned and applied (`chains`), how any of it is shown (`cli`, `studio`, `portal`).
"""
