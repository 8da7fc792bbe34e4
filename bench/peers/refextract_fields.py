"""Fields of references by refextract: a JSON list of texts on stdin, a JSON list of its answers on stdout.

Runs in an environment of its own, in which refextract is installed: see `bench/paper_peers.py`.
"""

from __future__ import annotations

import json
import sys

from refextract import extract_references_from_string

KEPT = ("author", "title", "misc", "journal_title", "journal_volume", "journal_page", "journal_year", "year")


def main() -> None:
    answers = []
    for text in json.load(sys.stdin):
        found = extract_references_from_string(text)
        merged = {name: " ".join(part for one in found for part in one.get(name, ())) for name in KEPT}
        answers.append({name: said for name, said in merged.items() if said})
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
