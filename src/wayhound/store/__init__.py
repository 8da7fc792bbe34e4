"""The only SQL, and the model files: one store for each noun, over one SQLite connection; `protocol` is the contract.

Not here: archived pages (`archive`), the search index (`search`), and opening any of them (`workspace`).
"""
