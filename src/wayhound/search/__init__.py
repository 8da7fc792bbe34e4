"""Full-text search over records: the query language, the tantivy index, ranking, snippets and suggestions.

Everything here works on an index folder and on `IndexDocument` values; it reads no database.
Keeping the index in step with the records is in `app.index`, showing results is in `portal`.
"""
