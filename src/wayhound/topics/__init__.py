"""Place documents in a tree of topics, learning each topic's words from a few keywords.

The tree file, keyword rules, training, the trained model and suggestions live here; nothing touches a workspace.
Files and placements of a workspace are in `app.topics`, the estimators in `learn`, the pages in `portal`.
"""
