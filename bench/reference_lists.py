"""Lists of references in many styles: real bibliographies that LaTeX typesets, cut and compared with what was printed.

The references are real, their typesetting is synthetic. Each list is set twice: as in a paper, in one or two columns,
with text before it and a biography, an appendix or nothing after it; and once more with a mark before each entry,
which tells what is printed of it. Styles whose name has an even digest are `looked at` to write rules; the bars are
for the others. `--make` needs pdflatex, bibtex and biber; measuring needs none of them.

    python -m bench.reference_lists --lists FOLDER --make --bib FILE.bib …
    python -m bench.reference_lists --lists FOLDER
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.papers_venues import ListTally, dice
from bench.pdf import plain
from bench.report import Bar, Cell, Report, add_output_options, finish
from wayhound.documents.document import Document
from wayhound.documents.flow import whole_words
from wayhound.documents.reader import DocumentReader
from wayhound.papers.distant import BibEntry, parse_bibtex
from wayhound.papers.reference_cut import cut_references
from wayhound.papers.sections import reference_lines

LEAST = {"english": 0.95, "german": 0.92}
LEAST_COUNTS = 0.80
SAME = 0.9  # Dice of 4-grams from which a cut reference is a printed one
N_ENTRIES = (12, 45)
MOST_OF_A_FILE = 400
ENGLISH = {
    "bibtex": ("plain", "abbrv", "alpha", "apalike", "ieeetr", "acm", "siam", "IEEEtran", "plainnat", "unsrtnat",
               "elsarticle-harv", "elsarticle-num", "vancouver", "apsrev4-2", "aer", "asaetr", "phcpc"),
    "biblatex": ("numeric", "authoryear", "apa", "chicago-authordate", "mla", "nature", "science", "phys",
                 "chem-acs", "authortitle", "verbose", "historian"),
}  # fmt: skip
GERMAN = {
    "bibtex": ("plaindin", "natdin", "alphadin", "unsrtdin", "gerplain", "gerabbrv", "geralpha", "apalike-german"),
    "biblatex": ("numeric", "authoryear", "authortitle", "alphabetic", "geschichtsfrkl", "authortitle-dw",
                 "footnote-dw", "verbose", "apa"),
}  # fmt: skip
NATBIB = {"plainnat", "unsrtnat", "elsarticle-harv", "natdin", "apsrev4-2", "aer", "apalike-german"}
FIELDS = ("author", "editor", "title", "journal", "booktitle", "year", "volume", "number", "pages", "publisher",
          "address", "school", "institution", "edition", "series", "doi")  # fmt: skip
KINDS = frozenset(
    "article book inproceedings incollection techreport phdthesis mastersthesis proceedings".split()
)
HEADINGS = {
    "english": ("References", "Bibliography", "Works Cited"),
    "german": ("Literatur", "Literaturverzeichnis"),
}
MARKED_BIBITEM = (
    r"\let\oldbibitem\bibitem\def\bibitem{\futurelet\next\qqitem}"
    r"\def\qqitem{\ifx\next[\expandafter\qqopt\else\expandafter\qqplain\fi}"
    r"\def\qqopt[#1]#2{\oldbibitem[{#1}]{#2}\qqmark}\def\qqplain#1{\oldbibitem{#1}\qqmark}"
)
TAILS = {
    "english": ("", r"\section*{Appendix}\blindtext", r"\medskip\noindent\textbf{Anna Lind} is a professor of "
                r"history at the University of Example. She received her doctorate there in 1998.\par"
                r"\noindent\emph{Address:} Department of History, 12 Long Road, Exampleton. "
                r"E-mail: lind@example.org"),
    "german": ("", r"\section*{Anhang}\blindtext", r"\medskip\noindent\textbf{Anna Lind} ist Professorin f\"ur "
               r"Geschichte an der Universit\"at Beispielstadt.\par\noindent Anschrift: Institut f\"ur Geschichte, "
               r"Lange Stra\ss e 12, 12345 Beispielstadt. E-Mail: lind@example.org"),
}  # fmt: skip
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_UNPRINTABLE = re.compile(r"[\\{}$^]|^[a-z]+-[A-Z]")  # TeX that is left over, or an unknown abbreviation
_NEXT_LABEL = re.compile(r"\s*(?:\[[^\[\]]{1,40}\]|(?<!\d)\(?\d{1,3}[.)]|(?<![\d–-])\d{1,3})\s*$")
_GERMAN_WORDS = frozenset("und der die das mit für zur von".split())


@dataclass(frozen=True, slots=True)
class Recipe:
    """One list: its language, its style and the program that sets it."""

    language: str
    program: str
    style: str

    @property
    def name(self) -> str:
        return f"{self.language}-{self.program}-{self.style}"

    @property
    def looked_at(self) -> bool:
        return int(hashlib.sha256(self.name.encode()).hexdigest()[0], 16) % 2 == 0


def recipes() -> Iterator[Recipe]:
    for language, programs in (("english", ENGLISH), ("german", GERMAN)):
        for program, styles in programs.items():
            yield from (Recipe(language, program, style) for style in styles)


def entries_of(path: Path) -> Iterator[BibEntry]:
    """Yield the entries that state enough to be printed, with abbreviations written out."""
    body = path.read_bytes()
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = body.decode("latin-1")
    strings = dict(re.findall(r'@string\s*\{\s*(\S+)\s*=\s*["{](.*?)["}]\s*\}', text, re.IGNORECASE))
    for entry in parse_bibtex(text):
        fields = {
            name: strings.get(entry.fields.get(name, ""), entry.fields.get(name, "")) for name in FIELDS
        }
        year = _YEAR.search(entry.fields.get("year", entry.fields.get("date", "")))
        fields["year"] = year[0] if year else ""
        fields["journal"] = fields["journal"] or entry.fields.get("journaltitle", "")
        fields["address"] = fields["address"] or entry.fields.get("location", "")
        kind = {"collection": "book", "thesis": "phdthesis", "report": "techreport"}.get(
            entry.kind, entry.kind
        )
        is_whole = fields["title"] and fields["year"] and (fields["author"] or fields["editor"])
        if kind in KINDS and is_whole and not any(map(_UNPRINTABLE.search, fields.values())):
            language = entry.fields.get("language", entry.fields.get("langid", "")).lower()
            kept = {name: value for name, value in fields.items() if value} | {"language": language}
            yield BibEntry(kind, entry.key, kept)


def _sample(entries: list[BibEntry]) -> list[BibEntry]:
    """Return some of a large file, so that no single one fills the lists."""
    return random.Random(0).sample(entries, min(len(entries), MOST_OF_A_FILE))


def is_german(entry: BibEntry) -> bool:
    words = set(re.findall(r"\w+", entry.fields["title"].lower()))
    return "german" in entry.fields["language"] or bool(words & _GERMAN_WORDS)


def bibtex_of(entries: Iterable[BibEntry]) -> str:
    """Return a file of these entries under new keys."""
    parts = []
    for number, entry in enumerate(entries):
        fields = {
            name: re.sub(r"([&%#_])", r"\\\1", value)
            for name, value in entry.fields.items()
            if name in FIELDS
        }
        listed = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
        parts.append(f"@{entry.kind}{{e{number},\n{listed}\n}}\n")
    return "\n".join(parts)


def source_of(recipe: Recipe, rng: random.Random, *, marked: bool) -> str:
    """Return the LaTeX source of a paper with the list, or of the list alone with its entries marked."""
    babel = "ngerman" if recipe.language == "german" else "english"
    columns = rng.choice(("", "twocolumn"))
    options = "a4paper,12pt" if marked else f"a4paper,{rng.choice(('10pt', '11pt'))},{columns}"
    heading, tail = rng.choice(HEADINGS[recipe.language]), rng.choice(TAILS[recipe.language])
    pages = rng.choice((2, 3))
    mark = r"\newcounter{qq}\newcommand{\qqmark}{\stepcounter{qq}QQ\theqq QQ }"
    head = [
        rf"\documentclass[{options}]{{article}}", r"\usepackage[T1]{fontenc}", r"\usepackage[utf8]{inputenc}",
        rf"\usepackage[{babel}]{{babel}}", r"\usepackage{blindtext,csquotes,url}",
        r"\providecommand{\href}[2]{#2}\providecommand{\doi}[1]{doi: #1}", mark,
    ]  # fmt: skip
    if marked:
        head += [
            r"\usepackage[margin=1cm]{geometry}\pagestyle{empty}",
            r"\hyphenpenalty=10000\exhyphenpenalty=10000",
        ]
    if recipe.program == "bibtex":
        head.append(r"\usepackage[numbers]{natbib}" if recipe.style == "unsrtnat" else r"\usepackage{natbib}"
                    if recipe.style in NATBIB else "")  # fmt: skip
        listing = rf"\bibliographystyle{{{recipe.style}}}\bibliography{{list}}"
        head.append(rf"\addto\captions{babel}{{\def\refname{{{heading}}}}}")
        patch = MARKED_BIBITEM
    else:
        head.append(
            rf"\usepackage[style={recipe.style},backend=biber]{{biblatex}}\addbibresource{{list.bib}}"
        )
        listing = rf"\printbibliography[title={{{heading}}}]"
        patch = r"\renewbibmacro*{begentry}{\qqmark}"
    head.append(patch if marked else "")
    body = r"\raggedright" if marked else (
        rf"\title{{On the order of lists}}\author{{Anna Lind}}\maketitle\begin{{abstract}}\blindtext\end{{abstract}}"
        rf"\section{{Introduction}}\Blindtext[{3 * pages}]"
    )  # fmt: skip
    after = "" if marked else tail
    return "\n".join([*head, r"\begin{document}", body, r"\nocite{*}", listing, after, r"\end{document}"])


def typeset(source: str, bibliography: str, program: str) -> bytes | None:
    """Return the PDF, or None if LaTeX fails."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "list.tex").write_text(source)
        (Path(folder) / "list.bib").write_text(bibliography)
        latex = ["pdflatex", "-interaction=batchmode", "list"]
        for command in (latex, ["bibtex" if program == "bibtex" else "biber", "list"], latex, latex):
            subprocess.run(command, cwd=folder, capture_output=True, timeout=900, check=False)
        result = Path(folder) / "list.pdf"
        return result.read_bytes() if result.exists() else None


def make(folder: Path, pools: dict[str, list[BibEntry]], wanted: Sequence[str]) -> Iterator[str]:
    """Make the lists that are missing; yield a line on each."""
    folder.mkdir(parents=True, exist_ok=True)
    with DocumentReader() as reader:
        for recipe in recipes():
            if (folder / f"{recipe.name}.pdf").exists() or (wanted and recipe.language not in wanted):
                continue
            rng = random.Random(recipe.name)
            n_entries = rng.randint(*N_ENTRIES)
            chosen = rng.sample(pools[recipe.language], n_entries)
            bibliography, state = bibtex_of(chosen), rng.getstate()
            paper = typeset(source_of(recipe, rng, marked=False), bibliography, recipe.program)
            rng.setstate(state)
            marked = typeset(source_of(recipe, rng, marked=True), bibliography, recipe.program)
            document = reader.read(marked) if marked else None
            printed = list(_marked_texts(document)) if isinstance(document, Document) else []
            if paper and len(printed) > n_entries // 2:
                (folder / f"{recipe.name}.pdf").write_bytes(paper)
                (folder / f"{recipe.name}.json").write_text(json.dumps(printed, ensure_ascii=False, indent=0))
            yield f"{recipe.name}: {len(printed)} of {n_entries} entries"


def _marked_texts(document: Document) -> Iterator[str]:
    """Yield the text after each mark, up to the next, without the label of the next."""
    text = " ".join(line.text for page in document.pages for line in page.lines)
    for part in re.split(r"QQ\s?\d+\s?QQ", text)[1:]:
        yield _NEXT_LABEL.sub("", part).strip()


def measure(document: Document, printed: list[str], tally: ListTally) -> str:
    """Add a list to the tally and return a note."""
    cut = [
        plain(entry.text) for entry in cut_references(reference_lines(document), whole_words(document.lines))
    ]
    gold = [plain(text) for text in printed if text]
    recalled = sum(any(dice(one, other) >= SAME for other in cut) for one in gold)
    precise = sum(any(dice(one, other) >= SAME for one in gold) for other in cut)
    tally.add(printed=len(gold), cut=len(cut), recalled=recalled, precise=precise, length=len(gold))
    return f"{recalled} of {len(gold)} found, {precise} of {len(cut)} right"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--lists", type=Path, required=True, metavar="FOLDER", help="the lists, made or to be made"
    )
    parser.add_argument("--make", action="store_true", help="make the lists that are missing")
    parser.add_argument(
        "--bib", type=Path, nargs="*", default=(), metavar="FILE", help="bibliographies to make lists of"
    )
    parser.add_argument(
        "--only", choices=("looked", "unseen"), help="only styles that were looked at, or only others"
    )
    parser.add_argument("--show", action="store_true", help="a line for each style that was looked at")
    add_output_options(parser)
    options = parser.parse_args(arguments)
    if options.make:
        entries = [entry for path in options.bib for entry in _sample(list(entries_of(path)))]
        pools = {
            "english": [entry for entry in entries if not is_german(entry)],
            "german": [entry for entry in entries if is_german(entry)],
        }
        for line in make(options.lists, pools, ()):
            print(line, file=sys.stderr, flush=True)
    return finish(run(options), options)


def run(options: argparse.Namespace) -> Report:
    tallies: dict[tuple[str, str], ListTally] = defaultdict(ListTally)
    with DocumentReader() as reader:
        for recipe in recipes():
            path = options.lists / f"{recipe.name}.pdf"
            split = "looked at" if recipe.looked_at else "not looked at"
            if not path.exists() or (options.only and (options.only == "looked") != recipe.looked_at):
                continue
            document = reader.read(path.read_bytes())
            assert isinstance(document, Document)
            note = measure(
                document, json.loads(path.with_suffix(".json").read_text()), tallies[recipe.language, split]
            )
            if options.show and recipe.looked_at:
                print(f"{recipe.name}: {note}", file=sys.stderr)
    rows: list[list[Cell]] = [
        [language, split, tally.lists, tally.printed, tally.f1, tally.near / tally.lists]
        for (language, split), tally in sorted(tallies.items())
    ]
    unseen = {language: tally for (language, split), tally in tallies.items() if split == "not looked at"}
    bars = [
        Bar(f"{language}: F1, styles not looked at", tally.f1, least=LEAST[language])
        for language, tally in unseen.items()
    ]
    if unseen:
        near = sum(tally.near for tally in unseen.values()) / sum(tally.lists for tally in unseen.values())
        bars.append(Bar("counts within one, styles not looked at", near, least=LEAST_COUNTS))
    header = ["language", "styles", "lists", "references", "F1", "count within one"]
    return Report("Real references in typeset lists", header, rows, bars)


if __name__ == "__main__":
    sys.exit(main())
