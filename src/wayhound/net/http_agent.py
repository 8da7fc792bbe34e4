"""Who we say we are: every request names the program, and where to complain about it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wayhound import __version__
from wayhound.errors import UsageError

_PRODUCT = re.compile(r"[A-Za-z_-]{1,60}")  # RFC 9309, section 2.2.1: what robots.txt can name
_VERSION = re.compile(r"[A-Za-z0-9._-]{0,30}")
_CONTACT = re.compile(r"[!-'*-~]{0,200}")  # printable ASCII without spaces and parentheses


@dataclass(frozen=True, slots=True)
class Agent:
    """The crawler's name, which rules in robots.txt are matched against, and a URL or mail address to reach
    the people behind it."""

    product: str = "Wayhound"
    version: str = ".".join(__version__.split(".")[:2])
    contact: str = ""

    def __post_init__(self) -> None:
        if not _PRODUCT.fullmatch(self.product):
            raise UsageError(f"An agent's name is made of letters, - and _, unlike {self.product!r}.")
        if not _VERSION.fullmatch(self.version):
            raise UsageError(
                f"An agent's version is made of letters, digits and dots, unlike {self.version!r}."
            )
        if not _CONTACT.fullmatch(self.contact):
            raise UsageError(f"An agent's contact is a URL or a mail address, unlike {self.contact!r}.")

    @property
    def header(self) -> str:
        """The value of the User-Agent header: ``Wayhound/0.1 (+https://example.org/crawler)``."""
        name = f"{self.product}/{self.version}" if self.version else self.product
        return f"{name} (+{self.contact})" if self.contact else name
