"""Makes the models of headers and references that are shipped: `python -m scripts.train_paper_models --data FOLDER`.

Takes some minutes. Progress goes to stderr; each model is written as soon as it is trained.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bench.report import add_data_option
from wayhound.papers.field_crf import FieldCRF
from wayhound.papers.field_hmm import FieldHMM
from wayhound.papers.lexicon import Lexicon, build_lexicon
from wayhound.papers.tagged import parse_headers, parse_references
from wayhound.papers.training_data import PaperData, read_text, with_layout
from wayhound.store.model_files import save_model

TARGET = Path("src/wayhound/papers/models")
LAYOUT_SEED = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    parser.add_argument("--only", choices=sorted(MODELS), help="train this one alone")
    arguments = parser.parse_args()
    data = PaperData(arguments.data)
    TARGET.mkdir(exist_ok=True)
    lexicon = build_lexicon(data.names, data.bibtex)
    (TARGET / "lexicon.tsv.gz").write_bytes(lexicon.to_bytes())
    for name in [arguments.only] if arguments.only else MODELS:
        began = time.monotonic()
        written = MODELS[name](data, lexicon)
        size = sum(file.stat().st_size for file in written.iterdir())
        say(f"{name}: {size / 1e6:.2f} MB after {time.monotonic() - began:.0f} s")


def header_crf(data: PaperData, lexicon: Lexicon) -> Path:
    """From each header twice: as bare text, and with a layout drawn for it."""
    bare = parse_headers(read_text(data.headers))
    rng = np.random.default_rng(LAYOUT_SEED)
    model = FieldCRF("header", lexicon).fit([*bare, *(with_layout(header, rng) for header in bare)])
    return write(model, {"trained on": f"{len(bare)} headers of the Cora information extraction set"})


def reference_crf(data: PaperData, lexicon: Lexicon) -> Path:
    cora, nested = parse_references(read_text(data.references)), data.nested_references
    model = FieldCRF("reference", lexicon).fit([*cora, *nested])
    return write(model, {"trained on": f"{len(cora)} references of Cora, {len(nested)} of UMass"})


def header_hmm(data: PaperData, _: Lexicon) -> Path:
    headers = parse_headers(read_text(data.headers))
    model = FieldHMM("header").fit(headers, data.distant_for_headers())
    return write(model, {"trained on": f"{len(headers)} headers of Cora; words of BibTeX and name lists"})


def reference_hmm(data: PaperData, _: Lexicon) -> Path:
    cora = parse_references(read_text(data.references))
    model = FieldHMM("reference").fit(cora, data.distant_for_references())
    return write(model, {"trained on": f"{len(cora)} references of Cora; words of BibTeX and of UMass"})


MODELS: Mapping[str, Callable[[PaperData, Lexicon], Path]] = {
    "reference-hmm": reference_hmm,
    "header-hmm": header_hmm,
    "reference-crf": reference_crf,
    "header-crf": header_crf,
}


def write(model: FieldCRF | FieldHMM, about: Mapping[str, Any]) -> Path:
    arrays, meta = model.to_arrays()
    folder = TARGET / f"{model.kind}-{model.FORMAT.removeprefix('field-')}"
    save_model(folder, model.FORMAT, model.VERSION, arrays, {**meta, **about})
    return folder


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - progress


if __name__ == "__main__":
    main()
