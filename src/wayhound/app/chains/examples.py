"""Files of example chains."""

from __future__ import annotations

import itertools
import json

from wayhound.chains.construction import ExampleChain, ExampleLink
from wayhound.chains.ontology import Ontology
from wayhound.errors import UsageError
from wayhound.url import normalise


def read_examples(text: str, ontology: Ontology, where: str) -> dict[str, list[ExampleChain]]:
    """Read example chains by relationship: addresses of pages in order, or JSON with the places of links.

    ActorOf  https://films.example/1  https://films.example/1/cast  https://films.example/people/2
    !ActorOf …  says that the last link does not belong to the relationship
    {"relationship": "ActorOf", "chain": [{"page": "…", "target": "…", "pos": 120, "text": "…"}], "wanted": true}

    The name may be left out if there is one relationship. Raises UsageError naming the line.
    """
    examples: dict[str, list[ExampleChain]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        place = f"{where}, line {number}"
        name, links, wanted = (
            _json_example(line, place) if line.lstrip()[0] == "{" else _plain_example(line, place)
        )
        if not name and len(ontology.relationships) == 1:
            name = next(iter(ontology.relationships))
        if name not in ontology.relationships:
            known = ", ".join(ontology.relationships)
            raise UsageError(f"{place}: begin with the name of a relationship, one of {known}.")
        examples.setdefault(name, []).append(ExampleChain(links, wanted, f"Line {number}"))
    if not examples:
        raise UsageError(
            f"{where} has no example. Write the addresses of a source page and its target page on a line."
        )
    return examples


def _plain_example(line: str, place: str) -> tuple[str, tuple[ExampleLink, ...], bool]:
    parts = line.split()
    wanted = not parts[0].startswith("!")
    parts[0] = parts[0].removeprefix("!")
    name = "" if "://" in parts[0] else parts.pop(0)
    urls = [normalise(part) for part in parts if part]
    if len(urls) < 2 or not all(urls):
        raise UsageError(
            f"{place}: expected the addresses of at least two pages, the source first and the target last."
        )
    links = tuple(ExampleLink(page, target) for page, target in itertools.pairwise(urls))
    return name, links, wanted


def _json_example(line: str, place: str) -> tuple[str, tuple[ExampleLink, ...], bool]:
    try:
        data = json.loads(line)
        links = tuple(
            ExampleLink(
                str(link["page"]), str(link["target"]), int(link.get("pos", -1)), str(link.get("text", ""))
            )
            for link in data["chain"]
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{place} is not an example: {error}.") from None
    if not links:
        raise UsageError(f"{place}: the chain has no link.")
    return str(data.get("relationship", "")), links, bool(data.get("wanted", True))
