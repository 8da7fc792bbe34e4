"""XML documents out of strangers' text: escaped, and without the characters that XML has no place for."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, tostring

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def add(parent: Element, tag: str, text: str = "", **attributes: str) -> Element:
    """An element below another, if need be with text. `_` at the end of an attribute's name is left out."""
    named = {name.rstrip("_"): legal(value) for name, value in attributes.items()}
    child = SubElement(parent, tag, named)
    if text:
        child.text = legal(text)
    return child


def legal(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", text)


def document(root: Element) -> bytes:
    return ('<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode")).encode()
