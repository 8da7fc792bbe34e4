"""The portal: pages, feeds and exports over the records of a workspace, for visitors.

Routes, views and templates live here, and `library.py`, which reads for them. Searching is in `search`, what happens
with submissions in `app/moderate.py`, and what every server has (limits, guards, errors) in `web`.
"""
