"""Bytes become pages: charset, kind of content, title, words, links, robots rules, readable text.

Never raises, whatever the bytes are. Not here: PDF and other documents (`documents/`), fetching (`net/`).
"""
