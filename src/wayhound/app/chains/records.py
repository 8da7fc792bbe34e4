"""Records of relationships: a page for each concept instance, one for each relation, and what is related to what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import urlsplit

from wayhound.app.goal_records import goal_id
from wayhound.chains.ontology import Relationship
from wayhound.record import Record, Span, Value
from wayhound.store.chains import ChainInstance
from wayhound.workspace import Workspace

INSTANCE, RELATION = "instance", "relation"
MOST_RELATED = 200
_NAMES_IN_SUMMARY = 40


@dataclass
class RecordMaker:
    relationships: dict[str, Relationship]
    titles: dict[str, str]

    def records(self, instances: Sequence[ChainInstance]) -> list[Record]:
        self._name_targets(instances)
        concepts: dict[str, list[str]] = {}
        summaries: dict[str, dict[str, list[str]]] = {}
        for each in instances:
            relationship = self.relationships[each.relationship]
            for url, concept in ((each.source, relationship.source), (each.target, relationship.target)):
                if concept not in concepts.setdefault(url, []):
                    concepts[url].append(concept)
            forth, back = summaries.setdefault(each.source, {}), summaries.setdefault(each.target, {})
            forth.setdefault(relationship.shown, []).append(self._title(each.target))
            back.setdefault(inverse_name(relationship), []).append(self._title(each.source))
        pages = [self._instance(url, named, summaries[url]) for url, named in concepts.items()]
        return [*pages, *map(self._relation, instances)]

    def _name_targets(self, instances: Sequence[ChainInstance]) -> None:
        """Call a target by the text that most links to it have, unless its own title is known."""
        texts: dict[str, Counter[str]] = {}
        for each in instances:
            if each.steps[-1].text:
                texts.setdefault(each.target, Counter())[each.steps[-1].text] += 1
        self.titles = {url: counts.most_common(1)[0][0] for url, counts in texts.items()} | self.titles

    def _title(self, url: str) -> str:
        return self.titles.get(url) or url

    def _instance(self, url: str, concepts: list[str], summary: dict[str, list[str]]) -> Record:
        lines = [f"{name}: {', '.join(titles[:_NAMES_IN_SUMMARY])}." for name, titles in summary.items()]
        fields = {
            "title": (Value(self._title(url)),),
            "concept": tuple(map(Value, concepts)),
            "snippet": (Value(" ".join(lines), source=Span(url)),),
            "url": (Value(url),),
        }
        return Record(INSTANCE, goal_id(url), fields, start_of(url))

    def _relation(self, each: ChainInstance) -> Record:
        relationship = self.relationships[each.relationship]
        source, target = self._title(each.source), self._title(each.target)
        guide = tuple(
            Value(step.text or step.target, source=Span(step.page, step.pos, step.pos)) for step in each.steps
        )
        fields = {
            "title": (Value(f"{source} – {relationship.shown} – {target}"),),
            "relationship": (Value(relationship.name),),
            "source": (Value(source),),
            "target": (Value(target),),
            "guide": guide,
            "source_url": (Value(each.source),),
            "target_url": (Value(each.target),),
        }
        return Record(RELATION, relation_id(each), fields, start_of(each.source))


def relation_id(instance: ChainInstance) -> str:
    """Return the id of the record of a relationship instance."""
    key = f"{instance.relationship}\n{instance.source}\n{instance.target}"
    return sha256(key.encode("utf-8", "replace")).hexdigest()[:16]


def inverse_name(relationship: Relationship) -> str:
    """Return what a relationship is called when it is read from the target."""
    return relationship.inverse or f"{relationship.shown} of"


def start_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/"


@dataclass(frozen=True, slots=True)
class Related:
    """A page that another is related to: what the relation is called from there, and the links to click.

    `record` is the id of the page's record, `relation` that of the relation.
    """

    name: str
    title: str
    record: str
    relation: str
    guide: tuple[str, ...]


def related_pages(workspace: Workspace, url: str) -> list[Related]:
    """Return the pages that a page is related to, in both directions, by relationship."""
    store = workspace.stores.chains
    relationships = {known.relationship.name: known.relationship for known in store.relationships()}
    related = []
    for each in store.of_page(url, MOST_RELATED) if relationships else ():
        relationship = relationships[each.relationship]
        other = each.target if each.source == url else each.source
        name = relationship.shown if each.source == url else inverse_name(relationship)
        record = workspace.stores.records.get(INSTANCE, goal_id(other))
        guide = tuple(step.text or step.target for step in each.steps)
        title = record.first("title") if record else other
        related.append(Related(name, title, goal_id(other), relation_id(each), guide))
    return sorted(related, key=lambda each: (each.name, each.title))
