"""Papers: title, authors, references and citing sentences, found in a document by models and layout.

Here: sections, header and reference fields, call-outs, the models and their training data, bibliography
formats. Not here: reading files (`documents`), which references mean the same work (`citations`).
"""
