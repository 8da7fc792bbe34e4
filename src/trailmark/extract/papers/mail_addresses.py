"""Mail addresses as headers print them, several at once and with one host for many people, one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator

_NAME = r"[\w.+-]+"
_HOST = r"@\s?[\w-]+(?:\.[\w-]+)+"
_SHARED = re.compile(rf"[{{(\[]\s*({_NAME}(?:\s*[,;|/]\s*{_NAME})+)\s*[}})\]]\s?({_HOST})")
_ROW = re.compile(rf"^\s*({_NAME}(?:\s*[,;|]\s*{_NAME})+)\s?({_HOST})\W*$")
_ADDRESS = re.compile(rf"(?<![\w.+-]){_NAME}{_HOST}")
_BETWEEN = re.compile(r"\s*[,;|/]\s*")


def mail_addresses(text: str) -> list[str]:
    """Every address of a field; [] where none can be made out.

    `{anna, berta}@one.example` and `anna, berta@one.example` are two addresses.
    """
    spread = _SHARED.sub(_each, _ROW.sub(_each, text))
    found = (address.replace(" ", "").strip(".-") for address in _ADDRESS.findall(spread))
    return list(dict.fromkeys(found)) if not _patterned(spread) else []


def _each(found: re.Match[str]) -> str:
    return " ".join(_with_host(_BETWEEN.split(found[1]), found[2]))


def _with_host(names: list[str], host: str) -> Iterator[str]:
    yield from (f"{name.strip()}{host}" for name in names if name.strip())


def _patterned(text: str) -> bool:
    """`{Firstname}.{Lastname}@one.example` tells how addresses are made, and is none."""
    return bool(re.search(r"[}\])]\s*\.?\s*[{\[(]?[\w.]*[}\])]?\s?@", text))
