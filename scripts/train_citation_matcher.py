"""Makes the weights of the citation matcher that are shipped: `python -m scripts.train_citation_matcher`.

Taught on Cora's citations, on the two bibliographies of DBLP-ACM, and on citations made from BibTeX.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.citation_data import Labelled, as_text, made_citations, read_cora, read_dblp_acm
from bench.citations import teach
from bench.report import add_data_option
from wayhound.citations.grouping import training_pairs
from wayhound.citations.pair_model import FILE_NAME, classifier_to_json

TARGET = Path("src/wayhound/organise/citations") / FILE_NAME
TRAINED_ON = "Cora (1,295 citations), DBLP-ACM (4,910 entries), 4,000 citations made from BibTeX entries"
MADE = 4_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    data = parser.parse_args().data
    cora = read_cora(data)
    bare = Labelled([as_text(each) for each in cora.citations], cora.papers)
    sets = (cora, bare, read_dblp_acm(data)[0], made_citations(data, MADE, seed=1))
    classifier = teach([training_pairs(each.citations, each.papers) for each in sets])
    TARGET.write_text(classifier_to_json(classifier, TRAINED_ON), "utf-8")


if __name__ == "__main__":
    main()
