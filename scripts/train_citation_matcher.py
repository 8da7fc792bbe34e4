"""Train the shipped citation matcher: `python -m scripts.train_citation_matcher --data FOLDER`.

Trained on Cora's citations, on the two bibliographies of DBLP-ACM, and on citations generated from BibTeX. Pairs of
DBLP-ACM count four times: only one in fourteen of them is a match, against more than half of those of the other sets.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.citation_data import Labelled, generated_citations, read_cora, read_dblp_acm, text_only
from bench.citations import fit
from bench.report import add_data_option
from wayhound.citations.grouping import training_pairs
from wayhound.citations.pair_model import FILE_NAME, classifier_to_json

TARGET = Path("src/wayhound/citations") / FILE_NAME
TRAINED_ON = "Cora (1,295 citations), DBLP-ACM (4,910 entries), 4,000 citations made from BibTeX entries"
GENERATED = 4_000
WEIGHT = 4  # of pairs of DBLP-ACM


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    data = parser.parse_args().data
    cora = read_cora(data)
    bare = Labelled([text_only(citation) for citation in cora.citations], cora.papers)
    sets = (cora, bare, generated_citations(data, GENERATED, seed=1))
    entries = read_dblp_acm(data)[0]
    pairs = [training_pairs(labelled.citations, labelled.papers) for labelled in sets]
    classifier = fit([*pairs, *[training_pairs(entries.citations, entries.papers)] * WEIGHT])
    TARGET.write_text(classifier_to_json(classifier, TRAINED_ON), "utf-8")


if __name__ == "__main__":
    main()
