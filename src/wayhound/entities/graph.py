"""The consensus graph (Huang & Yu, Definition 1): entities, atomic values, and labelled relationships with sources.

What pages claim about one thing comes together in one entity. Which claims mean the same thing is decided by name,
phone, e-mail, address and domain; a person's decision to split or merge holds whatever comes later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from wayhound.entities.fact import address_words, canonical, name_words, similarity
from wayhound.record_kinds import Compare, KindSpec

MAX_BLOCK = 500
"""Larger blocks are not compared pair by pair: a name or a number on so many entities tells nothing."""

SAME = 2.3
"""Evidence above this makes two descriptions one entity; see `resemblance`."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One value that one page gives to one field, with its place on the page and the confidence in it."""

    field: str
    text: str
    confidence: float = 1.0
    url: str = ""
    start: int = 0
    end: int = 0
    source: str = ""


@dataclass(frozen=True, slots=True)
class Description:
    """The statements of one page about one thing. `key` identifies it across runs: the page, and a number on it."""

    key: str
    claims: tuple[Claim, ...]
    domain: str = ""  # of a site that belongs to the thing itself; empty for a directory

    def texts(self, name: str) -> list[str]:
        return [claim.text for claim in self.claims if claim.field == name]

    @property
    def values(self) -> dict[str, list[str]]:
        """The texts of all claims by field."""
        values: dict[str, list[str]] = {}
        for claim in self.claims:
            values.setdefault(claim.field, []).append(claim.text)
        return values


@dataclass
class Entity:
    """A thing with an id, one or more types, and what pages say about it."""

    id: int
    types: set[str] = field(default_factory=set)
    descriptions: dict[str, Description] = field(default_factory=dict)

    @property
    def claims(self) -> Iterator[Claim]:
        for description in self.descriptions.values():
            yield from description.claims

    def texts(self, name: str) -> list[str]:
        return list(dict.fromkeys(claim.text for claim in self.claims if claim.field == name))


@dataclass(frozen=True, slots=True)
class EntityRelation:
    """e1.L = a or L(e1, e2): an entity, a label, and the claim that states it, with its value and its source.

    `description` is the key of the one with the claim. `target` is the kind and the id of the other entity, if the
    value is the name of one that is known.
    """

    entity: int
    label: str
    claim: Claim
    description: str
    target: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Consensus:
    """A value of a field with the probability that it is right, its spellings and the pages that claim it."""

    text: str
    probability: float
    claims: tuple[Claim, ...]


class ConsensusGraph:
    """Entities that grow as descriptions are added."""

    def __init__(self, kind: KindSpec) -> None:
        self.kind = kind
        self.entities: dict[int, Entity] = {}
        self._compare: dict[str, Compare] = {spec.name: spec.compare for spec in kind.fields}
        self._blocks: dict[str, set[int]] = defaultdict(set)
        self._of_key: dict[str, int] = {}
        self._apart: set[frozenset[str]] = set()  # keys of descriptions that a person told apart
        self._together: dict[str, set[str]] = defaultdict(set)
        self._next = 1

    def __len__(self) -> int:
        return len(self.entities)

    def entity_of(self, key: str) -> int | None:
        """Return the id of the entity that a description belongs to."""
        return self._of_key.get(key)

    def add(self, description: Description, types: Iterable[str] = ()) -> int:
        """Add a description and return the id of its entity: one that it resembles, or a new one.

        The same key added again replaces what was said before.
        """
        if description.key in self._of_key:
            self.remove(description.key)
        best = self._bound(description) or self._best(description)
        entity = self.entities[best] if best is not None else self._new()
        entity.types |= {self.kind.kind, *types}
        self._attach(entity, description)
        return entity.id

    def remove(self, key: str) -> None:
        """Take a description out of the graph; an entity without any left goes with it."""
        entity = self.entities[self._of_key.pop(key)]
        description = entity.descriptions.pop(key)
        self._unblock(entity, description)
        if not entity.descriptions:
            del self.entities[entity.id]

    def decide(self, one: str, other: str, *, same: bool) -> None:
        """Take in a person's decision on two descriptions, by key, before or after they are added."""
        pair = frozenset((one, other))
        if same:
            self._together[one].add(other)
            self._together[other].add(one)
            self._apart.discard(pair)
        else:
            self._apart.add(pair)
            self._together[one].discard(other)
            self._together[other].discard(one)

    def merge(self, first: int, second: int) -> int:
        """Make two entities one for good, and return its id: the first one's."""
        kept, gone = self.entities[first], self.entities[second]
        if first == second:
            return first
        keys = [*kept.descriptions, *gone.descriptions]
        for key in keys[1:]:
            self._together[keys[0]].add(key)
            self._together[key].add(keys[0])
        self._apart -= {frozenset((a, b)) for a in kept.descriptions for b in gone.descriptions}
        kept.types |= gone.types
        for description in list(gone.descriptions.values()):
            self.remove(description.key)
            self._attach(kept, description)
        return first

    def split(self, entity: int, keys: Iterable[str]) -> int:
        """Make some descriptions of an entity another one for good, and return the new id."""
        old, taken = self.entities[entity], set(keys)
        rest = [key for key in old.descriptions if key not in taken]
        new = self._new()
        new.types |= old.types
        for key in [key for key in old.descriptions if key in taken]:
            for other in rest:
                self._apart.add(frozenset((key, other)))
                self._together[key].discard(other)
                self._together[other].discard(key)
            description = old.descriptions[key]
            self.remove(key)
            self._attach(new, description)
        return new.id

    def named(self, name: str, domain: str = "") -> int | None:
        """Return the entity of a name; of several, one that the same domain describes, else None."""
        found = self._blocks.get(_name_key(name), set())
        if len(found) > 1:
            found = {
                entity
                for entity in found
                if domain
                and any(each.domain == domain for each in self.entities[entity].descriptions.values())
            }
        return next(iter(found)) if len(found) == 1 else None

    def values(self, entity: int) -> dict[str, list[str]]:
        """Return the distinct values of an entity by field: spellings of one value count once."""
        result: dict[str, list[str]] = {}
        for name, groups in self._grouped(self.entities[entity]).items():
            result[name] = [max(group, key=lambda claim: claim.confidence).text for group in groups]
        return result

    # Resolution

    def _new(self) -> Entity:
        entity = Entity(self._next)
        self.entities[entity.id] = entity
        self._next += 1
        return entity

    def _attach(self, entity: Entity, description: Description) -> None:
        entity.descriptions[description.key] = description
        self._of_key[description.key] = entity.id
        self.entities[entity.id] = entity
        for block in blocking_keys(description):
            self._blocks[block].add(entity.id)

    def _unblock(self, entity: Entity, description: Description) -> None:
        kept = {block for other in entity.descriptions.values() for block in blocking_keys(other)}
        for block in blocking_keys(description):
            if block not in kept:
                self._blocks[block].discard(entity.id)

    def _bound(self, description: Description) -> int | None:
        """Return the entity that a person put this description into."""
        return next(
            (self._of_key[key] for key in self._together[description.key] if key in self._of_key), None
        )

    def _best(self, description: Description) -> int | None:
        nearby = {
            entity
            for block in blocking_keys(description)
            if len(self._blocks[block]) <= MAX_BLOCK
            for entity in self._blocks[block]
        }
        scored = [
            (self._resemblance(description, self.entities[entity]), -entity)
            for entity in nearby
            if not self._told_apart(description, self.entities[entity])
        ]
        score, entity = max(scored, default=(0.0, 0))
        return -entity if score > SAME else None

    def _told_apart(self, description: Description, entity: Entity) -> bool:
        return any(frozenset((description.key, key)) in self._apart for key in entity.descriptions)

    def _resemblance(self, description: Description, entity: Entity) -> float:
        """Return the evidence that a description is of an entity: the best over what is said about it."""
        return max(resemblance(description, other) for other in list(entity.descriptions.values())[:50])

    # Reconciliation

    def _grouped(self, entity: Entity) -> dict[str, list[list[Claim]]]:
        groups: dict[str, list[list[Claim]]] = {}
        for claim in entity.claims:
            compare = self._compare.get(claim.field, "text")
            of_field = groups.setdefault(claim.field, [])
            for group in of_field:
                if similarity(compare, claim.text, group[0].text) >= _SAME_VALUE[compare]:
                    group.append(claim)
                    break
            else:
                of_field.append([claim])
        return groups

    def consensus(
        self, entity: int, reliability: Mapping[str, float] | None = None
    ) -> dict[str, list[Consensus]]:
        """Return the values of an entity by field, likeliest first, with what else is claimed.

        Claims of several sources for one value are taken as independent (noisy or); of a field with one true value,
        claims for others count against it.
        """
        reliability = reliability or {}
        result: dict[str, list[Consensus]] = {}
        for name, groups in self._grouped(self.entities[entity]).items():
            raw = [_noisy_or(group, reliability) for group in groups]
            many = self.kind.field(name).many
            against = [1.0 if many else _missed(raw, number) for number in range(len(raw))]
            values = [
                Consensus(max(group, key=lambda claim: claim.confidence).text, round(p * q, 4), tuple(group))
                for group, p, q in zip(groups, raw, against, strict=True)
            ]
            result[name] = sorted(values, key=lambda value: (-value.probability, value.text))
        return result

    def learn_reliability(
        self, rounds: int = 5, prior: float = 0.8, strength: float = 4.0
    ) -> dict[str, float]:
        """Return the reliability of each source (host): the mean probability of the values it claims, iterated."""
        reliability: dict[str, float] = {}
        for _ in range(rounds):
            sums: dict[str, list[float]] = defaultdict(lambda: [strength * prior, strength])
            for entity in self.entities:
                for name, values in self.consensus(entity, reliability).items():
                    sources = {claim.source for value in values for claim in value.claims}
                    if len(sources) < 2 and (len(values) == 1 or self.kind.field(name).many):
                        continue  # nobody agrees or disagrees: two e-mails of one site are no contradiction
                    for value in values:
                        for claim in value.claims:
                            sums[claim.source][0] += value.probability
                            sums[claim.source][1] += 1
            reliability = {source: total / count for source, (total, count) in sums.items()}
        return reliability


def relationships(graph: ConsensusGraph, graphs: Mapping[str, ConsensusGraph]) -> Iterator[EntityRelation]:
    """Yield all relationships of a graph with their provenance; values that name entities lead to those of `graphs`."""
    for entity in graph.entities.values():
        for description in entity.descriptions.values():
            for claim in description.claims:
                others = graphs.get(graph.kind.field(claim.field).names)
                other = others.named(claim.text, description.domain) if others is not None else None
                target = (others.kind.kind, other) if others is not None and other is not None else None
                yield EntityRelation(entity.id, claim.field, claim, description.key, target)


def doubt(consensus: Mapping[str, Sequence[Consensus]]) -> float:
    """Return the probability that the least certain field of an entity has no right value so far."""
    return 1 - min((values[0].probability for values in consensus.values()), default=1.0)


_SAME_VALUE: dict[Compare, float] = {
    "text": 0.95, "name": 0.8, "phone": 1.0, "email": 1.0, "address": 0.75, "url": 1.0, "coordinates": 1.0,
}  # fmt: skip


def _noisy_or(claims: Sequence[Claim], reliability: Mapping[str, float]) -> float:
    by_source: dict[str, float] = {}
    for claim in claims:
        believed = claim.confidence * reliability.get(claim.source, 0.8)
        by_source[claim.source] = max(believed, by_source.get(claim.source, 0.0))
    missed = 1.0
    for believed in by_source.values():
        missed *= 1 - believed
    return 1 - missed


def _missed(probabilities: Sequence[float], number: int) -> float:
    """Return the probability that the claims for all other values are wrong, scaled by how they compare."""
    own = probabilities[number]
    rest = sum(p for index, p in enumerate(probabilities) if index != number)
    return own / (own + rest) if own + rest else 0.0


def blocking_keys(description: Description) -> set[str]:
    """Return the keys under which descriptions of one thing meet: phones, e-mails, domain, name words, address."""
    keys = {f"p{canonical('phone', text)[-9:]}" for text in description.texts("phone")}
    keys |= {f"e{canonical('email', text)}" for text in description.texts("email")}
    for text in description.texts("name"):
        words = name_words(text)
        keys.add(f"n{' '.join(words[:2])}")
        keys.add(_name_key(text))
    for text in description.texts("address"):
        digits = [word for word in address_words(text) if any(map(str.isdigit, word))]
        keys.add(f"a{' '.join(digits[:1] + digits[-1:])}")
    if description.domain:
        keys.add(f"d{description.domain}")
    return {key for key in keys if len(key) > 2}


def _name_key(name: str) -> str:
    return f"N{''.join(name_words(name))}"


def resemblance(one: Description, other: Description) -> float:
    """Return the evidence that two descriptions are of one thing, in log odds, roughly.

    A chain's restaurants share a name and have addresses and phones of their own; two firms in one building share an
    address. So no single field decides, and known differences count against.
    """
    score = 0.0
    for name, compare, agree, differ in _EVIDENCE:
        first, second = one.texts(name), other.texts(name)
        if not first or not second:
            continue
        best = max(similarity(compare, a, b) for a in first[:10] for b in second[:10])
        score += agree * best if best >= 0.5 else differ
    if one.domain and other.domain:
        score += 2.6 if one.domain == other.domain else -1.0
    return score


_EVIDENCE: tuple[tuple[str, Compare, float, float], ...] = (
    ("name", "name", 1.8, -1.6),
    ("phone", "phone", 2.0, -1.0),
    ("email", "email", 2.0, -0.3),
    ("address", "address", 1.6, -1.4),
)
"""Field, comparison, evidence if it agrees, and if it differs."""
