"""Trains the models of headers and references that are shipped: `python -m scripts.train_paper_models --data FOLDER`.

Takes some minutes. Progress goes to stderr; each model is written as soon as it is trained.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import product
from pathlib import Path

from bench.report import add_data_option
from wayhound.papers.lexicon import build_lexicon
from wayhound.papers.models import KINDS, MODEL_NAMES, model_format, train_model
from wayhound.papers.training_data import PaperData
from wayhound.store.model_files import save_model

TARGET = Path("src/wayhound/papers/shipped")


def main() -> None:
    combinations = {f"{kind}-{name}": (name, kind) for name, kind in product(MODEL_NAMES, KINDS)}
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    parser.add_argument("--only", choices=sorted(combinations), help="train only this one")
    arguments = parser.parse_args()
    data = PaperData(arguments.data)
    if not all(data.names.values()):
        raise SystemExit("The data folder lacks a list of names.")
    lexicon = build_lexicon(data.names, data.bibtex)
    (TARGET / "lexicon.tsv.gz").write_bytes(lexicon.to_bytes())
    for folder in [arguments.only] if arguments.only else combinations:
        name, kind = combinations[folder]
        started = time.monotonic()
        model, source = train_model(name, kind, data, lexicon)
        arrays, meta = model.to_arrays()
        save_model(TARGET / folder, *model_format(name), arrays, {**meta, "trained on": source})
        size = sum(file.stat().st_size for file in (TARGET / folder).iterdir())
        report(f"{folder}: {size / 1e6:.2f} MB after {time.monotonic() - started:.0f} s")


def report(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - progress


if __name__ == "__main__":
    main()
