"""Readable sentences from small grammars, identical for the same seed on every machine."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

SLOT = re.compile(r"\{(\w+)(?:\.\.(\d+))?\}")
WRONG_ARTICLE = re.compile(r"\b([Aa]) (?=[aeiou])(?!uti|uni|use|eu)")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


@cache
def words(name: str) -> dict[str, Any]:
    """Return the word lists and grammar rules in `words/NAME.toml`. Callers must not change them."""
    return tomllib.loads(files("wayhound.samples").joinpath("words", f"{name}.toml").read_text("utf-8"))


def slug(text: str, separator: str = "-") -> str:
    """Return the text for use in a URL: lower-case ASCII words."""
    plain = unicodedata.normalize("NFKD", text.lower().translate(_UMLAUTS)).encode("ascii", "ignore").decode()
    return separator.join(re.findall(r"[a-z0-9]+", plain))


def random_for(seed: int, *names: str) -> Random:
    """Return a random generator for one part of the web, so that changing one site leaves the others alone.

    Seeding by a string does not depend on PYTHONHASHSEED.
    """
    return Random(":".join((str(seed), *names)))  # noqa: S311 - sample text, no secrets


class Grammar:
    """Rules by name. `{rule}` in a text is replaced by one of the rule's texts, without repeats until all are used."""

    def __init__(self, rules: Mapping[str, Sequence[str]], rng: Random) -> None:
        self.rules = rules
        self.rng = rng

    def with_rules(self, rules: Mapping[str, Sequence[str]]) -> Grammar:
        return Grammar({**self.rules, **rules}, self.rng)

    def generate(self, rule: str, **values: str) -> str:
        """Return a text by a rule; `values` fill slots of their names."""
        text = self._expand(rule, values, {})
        return WRONG_ARTICLE.sub(r"\1n ", text)

    def generate_new(self, rule: str, used: set[str], first_words: int = 99, **values: str) -> str:
        """Return a text whose first words are not in `used`, because URLs are made from them."""
        while True:
            text = self.generate(rule, **values)
            key = "-".join(slug(text).split("-")[:first_words])
            if key not in used:
                used.add(key)
                return text

    def _expand(self, rule: str, values: Mapping[str, str], used: dict[str, list[str]]) -> str:
        if rule in values:
            return values[rule]
        recent = used.setdefault(rule, [])
        if len(recent) >= len(self.rules[rule]):
            del recent[:-1]  # all are used: start again, but not with the last one
        unused = [text for text in self.rules[rule] if text not in recent]
        text = self.rng.choice(unused or self.rules[rule])
        recent.append(text)
        return SLOT.sub(lambda slot: self._fill(slot, values, used), text)

    def _fill(self, slot: re.Match[str], values: Mapping[str, str], used: dict[str, list[str]]) -> str:
        name, last = slot.groups()
        if last:
            return str(self.rng.randint(int(name), int(last)))
        text = self._expand(name.lower(), values, used)
        return text[0].upper() + text[1:] if name[0].isupper() else text
