"""Facts of pages by another library: `facts_peer.py LIBRARY PAGES.jsonl` writes JSON lines of URL and facts."""

from __future__ import annotations

import json
import re
import signal
import sys
from pathlib import Path


def visible_lines(html: str) -> list[str]:
    from lxml import html as parser

    tree = parser.fromstring(html)
    for node in tree.xpath("//script|//style"):
        node.drop_tree()
    return [" ".join(text.split()) for text in tree.itertext() if text.strip()]


def by_extruct(html: str, url: str) -> dict[str, list[str]]:
    import extruct

    data = extruct.extract(
        html, base_url=url, syntaxes=["json-ld", "microdata", "rdfa", "opengraph"], uniform=True
    )
    facts: dict[str, list[str]] = {"name": [], "phone": [], "email": [], "address": []}

    def walk(value: object) -> None:
        if isinstance(value, list):
            for entry in value:
                walk(entry)
        elif isinstance(value, dict):
            for key, field in (("telephone", "phone"), ("email", "email"), ("name", "name")):
                if isinstance(value.get(key), str):
                    facts[field].append(value[key])
            parts = [
                value.get(k) for k in ("streetAddress", "postalCode", "addressLocality", "addressRegion")
            ]
            if any(isinstance(part, str) for part in parts):
                facts["address"].append(", ".join(part for part in parts if isinstance(part, str)))
            for entry in value.values():
                walk(entry)

    walk(list(data.values()))
    return {name: values[:1] if name == "name" else values[:5] for name, values in facts.items()}


def by_pyap2(html: str, _: str) -> dict[str, list[str]]:
    import pyap

    text = "\n".join(visible_lines(html))
    found = [
        address.full_address
        for country in ("US", "GB", "CA")
        for address in pyap.parse(text, country=country)
    ]
    return {"address": found[:3]}


def by_usaddress(html: str, _: str) -> dict[str, list[str]]:
    """The trial's recipe: windows of up to three lines that hold a number, the best one by the labels found."""
    import usaddress

    lines = [line for line in visible_lines(html) if len(line) < 120]
    best, most = "", 0
    for start, line in enumerate(lines):
        if not re.match(r"\d|p\.? ?o\.? ?box", line, re.IGNORECASE):
            continue
        for size in (1, 2, 3):
            window = ", ".join(lines[start : start + size])
            labels = {label for _, label in usaddress.parse(window)}
            score = len(labels & {"AddressNumber", "StreetName", "PlaceName", "StateName", "ZipCode"})
            if score > most:
                best, most = window, score
    return {"address": [best] if most >= 4 else []}


def by_trafilatura(html: str, url: str) -> dict[str, list[str]]:
    import trafilatura

    found = trafilatura.extract_metadata(html, default_url=url)
    text = trafilatura.extract(html) or ""
    return {
        "name": [found.title] if found and found.title else [],
        "phone": re.findall(r"\+?\(?\d[\d ().\-/]{6,16}\d", text)[:5],
        "email": re.findall(r"[\w.+-]+@[\w-]+\.[\w.]+", text)[:5],
    }


LIBRARIES = {
    "extruct": by_extruct,
    "pyap2": by_pyap2,
    "usaddress": by_usaddress,
    "trafilatura": by_trafilatura,
}


PAGE_SECONDS = 4
"""Patterns of some libraries take minutes for a page; what takes more CPU time than this has no facts."""


def stop_page(*_: object) -> None:
    raise TimeoutError(f"not read in {PAGE_SECONDS} CPU seconds")


def main() -> None:
    read = LIBRARIES[sys.argv[1]]
    signal.signal(signal.SIGPROF, stop_page)
    with Path(sys.argv[2]).open(encoding="utf-8") as pages:
        for page in map(json.loads, pages):
            signal.setitimer(signal.ITIMER_PROF, PAGE_SECONDS)
            try:
                facts = read(page["html"], page["url"])
            except Exception as error:  # noqa: BLE001 - a page that a library fails on has no facts
                print(f"{page['url']}: {error}", file=sys.stderr)
                facts = {}
            signal.setitimer(signal.ITIMER_PROF, 0)
            print(json.dumps({"url": page["url"], "facts": facts}), flush=True)


if __name__ == "__main__":
    main()
