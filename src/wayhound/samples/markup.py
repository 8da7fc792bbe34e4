"""The few pieces of HTML that all sample sites share; everything else is each site's own."""

from __future__ import annotations

from collections.abc import Iterable


def link(href: str, text: str, attributes: str = "") -> str:
    return f'<a href="{href}"{attributes and " " + attributes}>{text}</a>'


def listing(items: Iterable[str], tag: str = "ul", attributes: str = "") -> str:
    body = "".join(f"<li>{item}</li>\n" for item in items)
    return f"<{tag}{attributes and ' ' + attributes}>\n{body}</{tag}>\n"


def paragraphs(texts: Iterable[str]) -> str:
    return "".join(f"<p>{text}</p>\n" for text in texts)


def rows(table: Iterable[Iterable[str]], cell: str = "td") -> str:
    lines = ("".join(f"<{cell}>{text}</{cell}>" for text in row) for row in table)
    return "".join(f"<tr>{line}</tr>\n" for line in lines)


def at(email: str, word: str = " at ") -> str:
    """An address as people write it who fear robots."""
    return email.replace("@", word)
