"""Read what a page asks of robots, in ``X-Robots-Tag`` headers and in ``meta`` elements.

RFC 9309 does not know them, but search engines agree on what they mean: rules for all robots and rules for one
by its name add up, and of two that differ the stricter one holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

_EVERYBODY = "robots"
_NAME = re.compile(r"\s*([\w*-]+)(?:/[\w.]*)?\s*", re.ASCII)
# Rules that have a value behind a colon, where others have the name of a robot before it.
_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


class RobotsRules(NamedTuple):
    """`nofollow`: the links of the page are not for robots. `noindex`: it is not to be shown to the public."""

    nofollow: bool = False
    noindex: bool = False


class RobotsTag(NamedTuple):
    """The values of ``X-Robots-Tag`` headers, a line each, and the name by which a page may speak to us alone."""

    lines: str = ""
    product: str = "Trailmark"

    def rules(self, metas: Mapping[str, Sequence[str]] | None = None) -> RobotsRules:
        """What the headers and the contents of `metas`, by lower-case name, ask for together."""
        product = self.product.lower()
        texts = [text for name in (_EVERYBODY, product) for text in (metas or {}).get(name, ())]
        texts += [rule for line in self.lines.splitlines() for rule in _for_us(line, product)]
        words = {word for text in texts for word in _words(text)}
        none = "none" in words
        return RobotsRules(none or "nofollow" in words, none or "noindex" in words)


def _for_us(line: str, product: str) -> Iterator[str]:
    """The rules of a header for everybody and for `product`; a name holds until another one stands there."""
    name = _EVERYBODY
    for part in line.split(","):
        before, colon, behind = part.partition(":")
        named = _NAME.fullmatch(before) if colon else None
        if named is None or named[1].lower() in _VALUED:
            rule = part
        else:
            name, rule = named[1].lower(), behind
        if name in {_EVERYBODY, "*", product}:
            yield rule


def _words(text: str) -> Iterator[str]:
    for rule in text.lower().split(","):
        if ":" not in rule:  # the none of ``max-image-preview: none`` is of images alone
            yield from rule.split()
