"""Papers beside the peers that registries hold: refextract, Biblio::Citation::Parser and pdftitle.

References: five-fold cross-validation of the CRF on the tagged references of the data folder, whose texts the peers
read as well. Titles: up to twelve files of each kind of venue that nobody looked at, see `bench.papers_venues`. The
bar is to be ahead of each peer on every field. PYTHON has refextract and pdftitle (`pip install refextract pdftitle` in
an environment of its own); Perl needs Biblio::Citation::Parser (Debian: libbiblio-citation-parser-perl).

    python -m bench.paper_peers --data FOLDER --files FOLDER --python PYTHON
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from bench import papers_venues
from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from bench.token_scores import add_split_options, report_progress, splits
from wayhound.papers.field_crf import FieldCRF
from wayhound.papers.fields import field_spans, texts_by_field
from wayhound.papers.lexicon import build_lexicon
from wayhound.papers.normalise_fields import NormalisedReference, normalise_reference
from wayhound.papers.tagged import TaggedText, parse_references
from wayhound.papers.tokens import Labelling, Segment, label_runs
from wayhound.papers.training_data import PaperData

PEERS = Path(__file__).with_name("peers")
MOST_FILES = 12  # of a kind of venue


def labelled_references(arguments: argparse.Namespace) -> Iterator[tuple[TaggedText, Sequence[str]]]:
    """Yield every tagged reference with the labels of a CRF that has not learned from it."""
    data = PaperData(arguments.data)
    lexicon = build_lexicon(data.names, data.bibtex)
    for number, split in enumerate(splits(arguments, data.references, parse_references), start=1):
        report_progress(f"split {number}: {len(split.train)} references for training")
        model = FieldCRF("reference", lexicon).fit(split.train)
        for text in split.test:
            yield text, model.label(text.lines).labels


def normalised(text: TaggedText, labels: Sequence[str]) -> NormalisedReference:
    segments = [Segment(name, first, last) for name, first, last in label_runs(labels)]
    spans = field_spans(text.lines, [0] * len(text.lines), Labelling(tuple(labels), tuple(segments)))
    return normalise_reference(texts_by_field(spans))


Getter = Callable[[NormalisedReference], str]
COMPARED: Mapping[str, tuple[Getter, Sequence[str]]] = {
    "first author": (
        lambda reference: reference.authors[0].last if reference.authors else "",
        ("author",),
    ),
    "title": (lambda reference: reference.title, ("title", "misc")),
    "year": (lambda reference: str(reference.year or ""), ("year", "journal_year")),
    "volume": (lambda reference: reference.volume, ("journal_volume",)),
    "first page": (lambda reference: reference.pages.first, ("journal_page",)),
}
"""Field → how to get ours, and the fields of refextract that may contain it."""


def peer_report(
    name: str, command: Sequence[str], labelled: Sequence[tuple[TaggedText, Sequence[str]]]
) -> Report:
    """Return the share of references with a field in which it was found, also within a longer text.

    A peer has the choice of several fields, and what it could not name (`misc`) may contain anything.
    """
    texts = json.dumps([" ".join(text.words) for text, _ in labelled])
    theirs = json.loads(
        subprocess.run(command, input=texts, capture_output=True, text=True, check=True).stdout
    )
    truths = [normalised(text, text.labels) for text, _ in labelled]
    ours = [normalised(text, guess) for text, guess in labelled]
    rows: list[list[Cell]] = []
    bars: list[Bar] = []
    for field, (value_of, keys) in COMPARED.items():
        true, mine = ([_bare(value_of(one)) for one in all_of] for all_of in (truths, ours))
        peers = [[_bare(fields.get(key, "")) for key in keys] for fields in theirs]
        present = [n for n, value in enumerate(true) if value]
        right = {
            "peer": [true[n] in "".join(peers[n]) for n in present],
            "ours": [true[n] in mine[n] for n in present],
            "ours, no more": [true[n] == mine[n] for n in present],
        }
        shares = {method: 100 * sum(found) / max(1, len(found)) for method, found in right.items()}
        rows.append([field, len(present), *shares.values()])
        bars.append(Bar(f"{field}: points ahead of {name}", shares["ours"] - shares["peer"], least=0.0))
    header = ("field", "references", f"{name}, contains it", "CRF, contains it", "CRF, and no more")
    return Report("Fields right, %", header, rows, bars)


def _bare(text: str) -> str:
    return re.sub(r"\W+", "", text.casefold())


def titles_report(arguments: argparse.Namespace) -> Report:
    """Compare titles with those of pdftitle, kind by kind."""
    program = arguments.python.with_name("pdftitle")
    options = argparse.Namespace(
        files=arguments.files,
        data=arguments.data,
        kinds=(),
        most=MOST_FILES,
        only="unseen",
        pdftitle=program,
        resume=None,
    )
    tallies, _ = papers_venues.run(options)
    rows: list[list[Cell]] = [
        [kind, tally.measured["title"], tally.share(papers_venues.PEER), tally.share("title")]
        for (kind, _), tally in sorted(tallies.items())
        if tally.measured["title"]
    ]
    ours, theirs = float(rows[0][3] or 0), float(rows[0][2] or 0)  # "all" is the first name in order
    bar = Bar("titles: points ahead of pdftitle", 100 * (ours - theirs), least=0.0)
    return Report("Titles right", ("kind", "files", "pdftitle", "ours"), rows, [bar])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=Path, metavar="FOLDER", help="kinds of venue, each a folder")
    parser.add_argument(
        "--python", type=Path, required=True, help="an interpreter with refextract and pdftitle"
    )
    parser.add_argument(
        "--perl", type=Path, default=Path("perl"), help="a Perl with Biblio::Citation::Parser"
    )
    add_split_options(parser)
    add_data_option(parser)
    add_output_options(parser)
    arguments = parser.parse_args()
    labelled = list(labelled_references(arguments))
    commands = {
        "refextract": [str(arguments.python), str(PEERS / "refextract_fields.py")],
        "Biblio::Citation::Parser": [str(arguments.perl), str(PEERS / "citation_parser.pl")],
    }
    reports = [peer_report(name, command, labelled) for name, command in commands.items()]
    if arguments.files:
        reports.append(titles_report(arguments))
    return finish(reports, arguments)


if __name__ == "__main__":
    sys.exit(main())
