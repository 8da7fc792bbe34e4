"""Facts of pages by other means, beside which `bench.entities` sets Wayhound's: patterns alone, and other libraries.

Each library runs in an environment of its own (`.bench-venvs/`), which is made at the first run, on a sample of the
pages. Some take seconds for a page, so the time of each is limited; what it did not read is not counted.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENVIRONMENTS = ROOT / ".bench-venvs"
PEER_PAGES = 24  # of each guide or site: the slowest peer takes seconds for some
PEER_SECONDS = 100
PEERS = {
    "extruct": ["extruct"],
    "pyap2": ["pyap2", "lxml"],
    "usaddress": ["usaddress", "lxml"],
    "trafilatura": ["trafilatura", "lxml[html-clean]"],
}

Answers = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class TruePage:
    """A page and the facts printed on it, by field."""

    group: str  # the guide or the site
    url: str
    body: bytes
    content_type: str
    facts: Mapping[str, tuple[str, ...]]
    kind: str


_PHONE = re.compile(r"\+?\(?\d[\d ().\-/]{6,16}\d")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+")
_ADDRESS = re.compile(r"\d+ [\w .,'#-]{5,60}?,? [A-Z]{2},? \d{5}")
_TITLE = re.compile(r"<h1[^>]*>(.*?)</h1>|<title[^>]*>(.*?)</title>", re.DOTALL | re.IGNORECASE)


def patterns(page: TruePage) -> Answers:
    """Regular expressions over the page without its tags, as most scripts do it."""
    html = page.body.decode("utf-8", "replace")
    text = re.sub(
        r"<[^>]+>", " ", re.sub(r"<(script|style).*?</\1>", " ", html, flags=re.DOTALL | re.IGNORECASE)
    )
    title = _TITLE.search(html)
    name = re.sub(r"<[^>]+>", "", next((part for part in title.groups() if part), "")) if title else ""
    return {
        "name": [" ".join(name.split())] if name.strip() else [],
        "phone": [match.strip() for match in _PHONE.findall(text)][:5],
        "email": _EMAIL.findall(text)[:5],
        "address": [" ".join(match.split()) for match in _ADDRESS.findall(text)][:3],
    }


def peer_sample(groups: Mapping[str, Sequence[TruePage]]) -> list[TruePage]:
    """Return the pages that peers read: of each guide or site with known facts some, one of each in turn."""
    samples = []
    for pages in groups.values():
        known = [page for page in pages if page.facts]
        samples.append(known[:: max(1, len(known) // PEER_PAGES)][:PEER_PAGES])
    return [page for round_ in zip_longest(*samples) for page in round_ if page is not None]


def peer_answers(name: str, pages: Sequence[TruePage]) -> dict[str, Answers]:
    """Run a peer in its own environment; return its facts of the pages that it read in time, if it can be had."""
    environment = ENVIRONMENTS / name
    python = environment / "bin" / "python"
    if not (environment / ".ready").exists():
        print(f"installing {name} into {environment}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", environment], check=False)
        if subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS[name]], check=False).returncode:
            print(f"{name} cannot be installed here and is left out", file=sys.stderr)
            return {}
        (environment / ".ready").touch()
    folder = ENVIRONMENTS / "facts"
    folder.mkdir(parents=True, exist_ok=True)
    given, taken = folder / f"{name}-pages.jsonl", folder / f"{name}-facts.jsonl"
    with given.open("w", encoding="utf-8") as file:
        for page in pages:
            file.write(json.dumps({"url": page.url, "html": page.body.decode("utf-8", "replace")}) + "\n")
    script = ROOT / "bench" / "peers" / "facts_peer.py"
    with taken.open("w", encoding="utf-8") as output:
        try:
            subprocess.run([python, script, name, given], check=True, stdout=output, timeout=PEER_SECONDS)
        except subprocess.TimeoutExpired:
            print(f"{name} was stopped after {PEER_SECONDS} seconds", file=sys.stderr)
    lines = taken.read_text("utf-8").rpartition("\n")[0].splitlines()
    answers = {answer["url"]: answer["facts"] for answer in map(json.loads, lines)}
    if not any(answers.values()):
        print(f"{name} failed on every page and is left out", file=sys.stderr)
        return {}
    return answers
