"""The decisions of a forage: which link next, when to wait, when to stop, and the strategies that score links.

Pure state machines, told what was fetched and what time it is. Not here: fetching, sleeping, clocks, storage.
"""
