"""Readable sentences out of small grammars, the same ones for the same seed on every machine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random

from wayhound.samples.people import slug

SLOT = re.compile(r"\{(\w+)(?:\.\.(\d+))?\}")
WRONG_ARTICLE = re.compile(r"\b([Aa]) (?=[aeiou])(?!uti|uni|use|eu)")
LIST = Sequence[str]


def chance_for(seed: int, *names: str) -> Random:
    """Chance of its own for each thing made, so that a change to one site leaves the others as they were.

    Seeding by a string does not depend on PYTHONHASHSEED.
    """
    return Random(":".join((str(seed), *names)))  # noqa: S311 - sample text, no secrets


class Grammar:
    """Rules by name. `{rule}` in a text is replaced by one of the rule's texts, another one each time."""

    def __init__(self, rules: Mapping[str, LIST], chance: Random) -> None:
        self.rules = rules
        self.chance = chance

    def with_rules(self, rules: Mapping[str, LIST]) -> Grammar:
        return Grammar({**self.rules, **rules}, self.chance)

    def say(self, rule: str, **given: str) -> str:
        text = self._expand(rule, given, {})
        return WRONG_ARTICLE.sub(r"\1n ", text)

    def say_new(self, rule: str, used: set[str], first_words: int = 99, **given: str) -> str:
        """A text unlike all in `used` by its first words, since addresses are made from them."""
        while True:
            text = self.say(rule, **given)
            key = "-".join(slug(text).split("-")[:first_words])
            if key not in used:
                used.add(key)
                return text

    def _expand(self, rule: str, given: Mapping[str, str], used: dict[str, list[str]]) -> str:
        if rule in given:
            return given[rule]
        gone = used.setdefault(rule, [])
        if len(gone) >= len(self.rules[rule]):
            del gone[:-1]  # all are used: start again, but not with the last one
        left = [text for text in self.rules[rule] if text not in gone]
        text = self.chance.choice(left or self.rules[rule])
        gone.append(text)
        return SLOT.sub(lambda slot: self._fill(slot, given, used), text)

    def _fill(self, slot: re.Match[str], given: Mapping[str, str], used: dict[str, list[str]]) -> str:
        name, last = slot.groups()
        if last:
            return str(self.chance.randint(int(name), int(last)))
        text = self._expand(name.lower(), given, used)
        return text[0].upper() + text[1:] if name[0].isupper() else text
