"""HTML helpers that all sample sites share, and the page frames and style sheets in the folder `look`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from string import Template


@cache
def look(name: str) -> str:
    """Return the text of a file in the folder `look`."""
    return files("wayhound.samples").joinpath("look", name).read_text("utf-8")


def fill(name: str, /, **parts: str) -> str:
    """Return a file of the folder `look` with its `$name` slots filled."""
    return Template(look(name)).substitute(parts)


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


def obfuscate(email: str, word: str = " at ") -> str:
    """Return an e-mail address as people write it against spam robots."""
    return email.replace("@", word)
