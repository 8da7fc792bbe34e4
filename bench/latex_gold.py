"""Title, authors, imprint and references of a paper from its LaTeX or Sweave source, as gold for what a PDF prints.

Sources are no descriptions: macros differ from class to class, and a source may be newer than its PDF. A value is
therefore gold only if the pages of the PDF have it, and authors only if every part of `\\author` reads as a name.
"""

from __future__ import annotations

import gzip
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_COMMENT = re.compile(r"(?<!\\)%.*")
_ACCENTS = {"`": "\u0300", "'": "\u0301", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
            "c": "\u0327", "v": "\u030c", "u": "\u0306", "H": "\u030b", "k": "\u0328", "r": "\u030a"}  # fmt: skip
_ACCENT = re.compile(r"\\([`'^\"~=.])\s*\{?\\?([A-Za-zı])\}?|\\([cvuHkr])(?:\s*\{([A-Za-z])\}|\s+([A-Za-z]))")
_LETTERS = {"ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "aa": "å", "AA": "Å",
            "i": "i", "LaTeX": "LaTeX", "LaTeXe": "LaTeX2ε", "TeX": "TeX", "proglang": "", "R": "R",
            "XeTeX": "XeTeX"}  # fmt: skip
_LETTER = re.compile(
    r"\\(" + "|".join(sorted(_LETTERS, key=len, reverse=True)) + r")(?![A-Za-z])\s?(?:\{\})?"
)
_DROPPED = ("thanks", "footnote", "footnotemark", "inst", "textsuperscript", "fnmsep", "fnref", "corref", "cormark",
            "email", "orcid", "address", "affil", "institute", "footnotetext", "label", "ref", "cite", "thanksref",
            "ead", "orcidlink", "authormark", "tnoteref", "vspace", "hspace", "index", "url", "href",
            "IEEEauthorblockA",
            "cnote", "fnmark", "tnotemark", "affiliation", "snm", "tmark")  # fmt: skip
_NAME_WORD = r"(?:[^\W\d_a-z](?:[^\W\d_]|[.'’-])*|van|von|de|der|den|del|la|di|da|dos|du|le|ter)"
_NAME = re.compile(rf"{_NAME_WORD}(?:\s+{_NAME_WORD}){{1,4}}")
_NO_NAME = re.compile(
    r"universi|institut|depart|school|college|team|author|group|project|package|name|last|first|another|person|someone|"
    r"corporation|inc\b|ltd|member|ieee|latex|\btex\b|class|version|maintain|centre|center|doe$",
    re.IGNORECASE,
)
_DOI = re.compile(r"10\.\d{4,9}/[^\s{}\\,;]{3,80}")
_YEAR = re.compile(r"(?<!\d)(?:19[5-9]|20[0-3])\d(?!\d)")
_VENUES = ("acmJournal", "journal", "journalname", "jname", "acmConference", "conference", "confname", "booktitle",
           "acmBooktitle", "jmlrproceedings", "shortjournal", "JNAME", "eventtitle")  # fmt: skip
_CLASS_VENUES = {
    "jss": "Journal of Statistical Software", "ltugboat": "TUGboat", "mnras": "MNRAS",
    "aomart": "Annals of Mathematics",
    "jpsj": "Journal of the Physical Society of Japan", "ptptex": "Progress of Theoretical Physics",
    "elbioimp": "J Electr Bioimp", "pracjourn": "The PracTeX Journal", "lni": "Lecture Notes in Informatics",
    "RJournal": "The R Journal", "dtk": "Die TeXnische Komödie", "arstexnica": "ArsTeXnica",
    "ijmart": "Israel Journal of Mathematics", "ejpecp": "Electron. J. Probab.",
    "economet": "Econometrica", "seg": "Geophysics", "csbulletin": "Zpravodaj", "rmaa": "RevMexAA",
    "emisa": "EMISA", "cje": "Canadian Journal of Economics",
}  # fmt: skip
"""Names that a class prints by itself."""
_YEARS = (
    "acmYear",
    "copyrightyear",
    "pubyear",
    "jyear",
    "JourYear",
    "Year",
    "volumeyear",
    "date",
    "jmlryear",
)
_NO_PAPER = re.compile(
    r"\\documentclass[^{]*\{[^}]*(?:thes|beamer|letter|exam|cv|book|report|slides|poster|leaflet|patent|schul|sem)",
    re.IGNORECASE,
)
_INCLUDED = re.compile(r"\\(?:input|include|subfile)\s*\{([^{}]{1,100})\}")
_VERBATIM = re.compile(r"\\verb\*?([^\sA-Za-z*]).*?\1")
_SWITCHES = frozenset(
    "bf it em tt sf sc rm sl large Large LARGE huge Huge small footnotesize normalsize bfseries itshape slshape "
    "ttfamily sffamily rmfamily scshape upshape mdseries normalfont centering noindent protect par newline linebreak "
    "break quad qquad hfill unskip ignorespaces sloppy raggedright boldmath null space leavevmode smallskip medskip "
    "bigskip hyp textendash textemdash".split()
)  # commands that print nothing of their own
_FONTS = frozenset(
    "emph textit textbf textsc texttt textsf textrm textsl textup textmd textnormal url href path newblock BibUrl "
    "natexlab bibinfo bibnamefont bibfnamefont citenamefont bibfield doi mbox hbox mathrm mathit mathbf log and rm "
    "penalty relax begin end enquote textquoteleft textquoteright ldots dots dag textendash urlstyle penalty0".split()
)  # commands that print their arguments
_LISTS = re.compile(r"\\(?:bibliography|printbibliography)(?![A-Za-z])|\\begin\{thebibliography\}")
_MOST_UNSURE = 0.1  # of the entries of a list
_SHOWN = re.compile(
    r"\\begin\{(verbatim\*?|Verbatim|lstlisting|LTXexample|minted|filecontents\*?)\}.*?\\end\{\1\}", re.DOTALL
)  # examples of sources
_UNKNOWN = re.compile(r"\\([A-Za-z@]+)(?!\s*[\[{A-Za-z@])")
_CITATION = re.compile(r"\b(title|journal|doi|year)\s*=\s*(?:paste0?\()?[\"']([^\"]{3,300}?)[\"']", re.DOTALL)
_LOOKS_LIKE_PAPER = re.compile(
    r"\\begin\{abstract\}|\\(?:[aA]bstract|bibliography|printbibliography)(?![a-z])|\\begin\{thebibliography\}"
)
_CITE = re.compile(r"\\(?:no|paren|text|foot|auto|full)?cite[a-zA-Z]*\*?(?:\s*\[[^\]]*\]){0,2}\s*\{([^}]*)\}")
_BIB_ENTRY = re.compile(r"@(\w+)\s*[{(]\s*([^\s,{}]+)\s*,")


@dataclass(frozen=True, slots=True)
class PaperGold:
    """The values of a source; None or empty if it has none that could be told."""

    title: str = ""
    title_is_sure: bool = True  # False if it has a command that might print what only TeX knows
    authors: tuple[str, ...] = ()
    years: frozenset[str] = frozenset()  # any of them is right
    doi: str = ""
    venues: tuple[str, ...] = ()  # spellings, any of which is right
    references: tuple[str, ...] = ()  # as printed, or titles only
    whole_references: bool = False  # False if `references` are titles
    details: dict[str, str] = field(default_factory=dict)


def read_source(path: Path) -> str:
    """Return the text of a source, without comments, with the chapters that it includes."""
    text = _INCLUDED.sub(lambda match: _included(path.parent, match), _read(path))
    return _expanded(text)


def _read(path: Path) -> str:
    body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        text = body.decode("latin-1")
    return _COMMENT.sub("", text)


def _included(folder: Path, match: re.Match[str]) -> str:
    """Return the text of a file that a source includes, or the command itself if the file is not there."""
    name = match[1].strip().removesuffix(".tex")
    paths = (folder / f"{name}{ending}" for ending in (".tex", ".tex.gz", ".ltx", ".bbl"))
    return next((_read(path) for path in paths if path.is_file()), match[0])


def _expanded(text: str) -> str:
    """Return the source with its own macros without arguments written out."""
    macros = dict(re.findall(r"\\(?:re)?newcommand\*?\{?\\([A-Za-z]+)\}?\{((?:[^{}]|\{[^{}]*\})*)\}", text))
    macros |= dict(re.findall(r"\\def\\([A-Za-z]+)\{((?:[^{}]|\{[^{}]*\})*)\}", text))
    simple = {name: body for name, body in macros.items() if "#" not in body and len(body) < 80}
    if not simple:
        return text
    used = re.compile(r"\\(" + "|".join(sorted(simple, key=len, reverse=True)) + r")(?![A-Za-z])(?:\{\})?")
    head, begin, rest = text.partition(r"\begin{document}")
    title = re.compile(r"\\(?:title|author)\b.*", re.DOTALL)
    head = title.sub(lambda match: used.sub(lambda use: simple[use[1]], match[0]), head)
    return head + begin + used.sub(lambda use: simple[use[1]], rest[:20_000]) + rest[20_000:]


def gold_of(path: Path) -> PaperGold:
    """Return what the source says; of a thesis, a book or a report only the references."""
    source = _SHOWN.sub("", read_source(path))
    head = source.split(r"\begin{thebibliography}")[0]
    if not _LOOKS_LIKE_PAPER.search(source):
        return PaperGold()
    entries = _printed_entries(_printed_list(path) or source)
    titles_cited = list(_cited_titles(source, path.parent)) if not entries and _prints_one(source) else []
    if _NO_PAPER.search(source):
        return PaperGold(references=tuple(entries or titles_cited), whole_references=bool(entries))
    title, is_sure = _title(head)
    cited = _citation(path, title)
    return PaperGold(
        title=title,
        title_is_sure=is_sure,
        authors=_authors(_before_body(head)),
        years=frozenset(
            year
            for name in _YEARS
            for text in arguments(head, name)
            if r"\today" not in text
            for year in _YEAR.findall(detex(text))
        ),
        doi=_doi(head) or cited.get("doi", ""),
        venues=tuple(_venues(head, cited)),
        references=tuple(entries or titles_cited),
        whole_references=bool(entries),
    )  # fmt: skip


def _title(head: str) -> tuple[str, bool]:
    """Return the first title, and False if it has a command that might print what only TeX knows."""
    for raw in arguments(_VERBATIM.sub(" ", head), "title"):
        if len(text := detex(raw)) > 5:
            known = _SWITCHES | _LETTERS.keys() | set(_DROPPED)
            return text, set(_UNKNOWN.findall(_ACCENT.sub("", raw))) <= known
    return "", False


_TO_FILL_IN = re.compile(r"\bXX+\b")
"""In a sample of a publisher's template, "Conference acronym 'XX": the name of no venue."""


def _venues(head: str, cited: dict[str, str]) -> Iterator[str]:
    for name in _VENUES:
        named = [detex(raw) for raw in arguments(head, name, optional=True)]
        if not any(map(_TO_FILL_IN.search, named)):
            yield from (text for text in named if len(text) > 3)
    for options, name in re.findall(r"\\documentclass\s*(?:\[([^\]]*)\])?\s*\{\s*([A-Za-z]+)", head):
        if name in _CLASS_VENUES and "nojss" not in options:
            yield _CLASS_VENUES[name]
    if "journal" in cited:
        yield cited["journal"]


def _citation(path: Path, title: str) -> dict[str, str]:
    """Return what the citation file of an R package says of the article that has this title."""
    folders = (other for folder in list(path.parents)[:3] for other in (folder, folder / "inst"))
    files = (folder / "CITATION" for folder in folders)
    found = next((file for file in files if file.exists()), None)
    if not found or not title:
        return {}
    for entry in re.split(r"\b(?:bibentry|citEntry)\s*\(", read_source(found))[1:]:
        values = {name: detex(text) for name, text in _CITATION.findall(entry)}
        if _letters(values.get("title", "")) == _letters(title):
            return values
    return {}


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def arguments(source: str, command: str, *, optional: bool = False) -> Iterator[str]:
    """Yield the argument of each use of a command, and with `optional` also that in brackets."""
    for match in re.finditer(rf"\\{command}\*?(?![A-Za-z])\s*(?:\[([^\]]*)\])?\s*(?=\{{)", source):
        if optional and match[1]:
            yield match[1]
        yield _braced(source, match.end())


def _braced(source: str, start: int) -> str:
    depth = 0
    for at in range(start, min(len(source), start + 20_000)):
        if source[at] == "\\":
            continue
        if source[at] == "{" and source[at - 1] != "\\":
            depth += 1
        elif source[at] == "}" and source[at - 1] != "\\":
            depth -= 1
            if depth == 0:
                return source[start + 1 : at]
    return ""


def detex(text: str) -> str:
    """Return the letters that a source prints."""
    for command in _DROPPED:
        for argument in list(arguments(text, command)):
            text = re.sub(
                rf"\\{command}\*?\s*(?:\[[^\]]*\])?\s*" + re.escape("{" + argument + "}"), " ", text
            )
    text = _ACCENT.sub(_accented, text)
    text = _LETTER.sub(lambda match: _LETTERS[match[1]], text)
    text = re.sub(r"\\[\\,;:! ]|~|\\(?:newline|linebreak|newblock|quad|qquad)\b", " ", text)
    text = re.sub(r"\\([&%$#_{}])", r"\1", text)
    text = re.sub(r"\\[A-Za-z@]+\*?(?:\s*\[[^\]]*\])?", " ", text)
    text = text.replace("``", "“").replace("''", "”").replace("---", "—").replace("--", "–")
    return unicodedata.normalize("NFC", " ".join(re.sub(r"[{}$]", "", text).split())).strip(" .,;")


def _accented(match: re.Match[str]) -> str:
    accent, letter = match[1] or match[3], match[2] or match[4] or match[5]
    return letter.replace("ı", "i") + _ACCENTS[accent]


def _before_body(head: str) -> str:
    """Return the source up to its title, unless authors are named after it."""
    before = head.partition(r"\maketitle")[0]
    return before if r"\author" in before else head


def _authors(head: str) -> tuple[str, ...]:
    """Return the names; none if any part of an author command does not read as a name."""
    names = [name for argument in arguments(head, "author") for name in _names_in(_without_dropped(argument))]
    if any(_lists_more_names(argument) for argument in arguments(head, "author")):
        return ()
    names = [re.sub(r"\s*\d+(?:\s*,\s*\d+)*$", "", name).strip() for name in names]
    good = all(_NAME.fullmatch(name) and not _NO_NAME.search(name) and len(name) < 40 for name in names)
    return tuple(dict.fromkeys(names)) if good else ()


def _lists_more_names(argument: str) -> bool:
    """Return True if a further line of a block could be a name as well: only people can tell."""
    for block in re.split(r"\\(?:and|And|AND)(?![A-Za-z])", _without_dropped(argument)):
        lines = [detex(line) for line in re.split(r"\\\\(?:\[[^\]]*\])?", block)[1:]]
        parts = [part.strip() for line in lines for part in re.split(r",|;|\band\b|&", line)]
        if any(_NAME.fullmatch(part) and not _NO_NAME.search(part) for part in parts):
            return True
    return False


def _without_dropped(text: str) -> str:
    for command in _DROPPED:
        for inner in list(arguments(text, command)):
            text = text.replace("{" + inner + "}", " ")
        text = re.sub(rf"\\{command}\*?(?![A-Za-z])", " ", text)
    return text


def _names_in(argument: str) -> Iterator[str]:
    for block in re.split(r"\\(?:and|And|AND)(?![A-Za-z])", argument):
        first = re.split(r"\\\\|\\newline|\\affil|\n\s*\n", block.strip().lstrip("\\"), maxsplit=1)[0]
        yield from (name for part in re.split(r",|;|\band\b|&", detex(first)) if (name := part.strip()))


def _doi(head: str) -> str:
    named = (text for name in ("acmDOI", "doi", "DOI", "articledoi") for text in arguments(head, name))
    return next((match[0].rstrip(".") for text in named if (match := _DOI.search(text))), "")


def _prints_one(source: str) -> bool:
    """Return True if a source is whole and prints one list: of several, none is the list of references."""
    is_divided = re.search(r"\\(?:begin\{refse(?:ction|gment)\}|newrefse(?:ction|gment)\b)", source)
    return len(_LISTS.findall(source)) == 1 and not _INCLUDED.search(source) and not is_divided


def _printed_entries(source: str) -> list[str]:
    """Return the entries of a list; none if many have commands of which only TeX knows what they print."""
    raw = list(_bibitems(source)) if _prints_one(source) else []
    known = _SWITCHES | _LETTERS.keys() | set(_DROPPED) | _FONTS | _ACCENTS.keys()
    unsure = sum(not set(re.findall(r"\\([A-Za-z]+)", entry)) <= known for entry in raw)
    if unsure > _MOST_UNSURE * len(raw):
        return []
    return [detex(entry.replace(r"\url", "").replace(r"\href", "")) for entry in raw]


def _printed_list(path: Path) -> str:
    """Return the list that BibTeX made for a source, if it was kept; biblatex's has another form."""
    made = path.with_name(f"{path.name.split('.')[0]}.bbl")
    text = _read(made) if made.exists() else ""
    return text if r"\begin{thebibliography}" in text else ""


def _bibitems(source: str) -> Iterator[str]:
    match = re.search(r"\\begin\{thebibliography\}(.*?)\\end\{thebibliography\}", source, re.DOTALL)
    for entry in re.split(r"\\bibitem(?![A-Za-z])", match[1])[1:] if match else ():
        label = re.match(r"\s*\[[^{}]{0,80}?\]|\s*\[.{0,300}?\](?=\s*\{)", entry, re.DOTALL)
        yield re.sub(r"^\s*\{[^}]*\}", "", entry[label.end() :] if label else entry)


def _cited_titles(source: str, folder: Path) -> Iterator[str]:
    """Yield the titles of cited entries; nothing if one that is cited is missing from the files beside the source."""
    files = [
        name.strip().removesuffix(".bib")
        for command in ("bibliography", "addbibresource")
        for text in arguments(source, command)
        for name in text.split(",")
    ]
    folders = (folder, folder.parent.parent / "vignettes")  # R's packages keep sources in both
    paths = [
        path
        for name in files
        for other in folders
        for path in (other / f"{name}.bib", other / f"{name}.bib.gz")
        if path.exists()
    ]
    sources = [read_source(path) for path in paths]
    entries = dict(entry for text in sources for entry in _bib_titles(text))
    keys = {key.strip() for match in _CITE.finditer(source) for key in match[1].split(",")} - {""}
    if "*" in keys:
        keys = {
            match[2]
            for text in sources
            for match in _BIB_ENTRY.finditer(text)
            if match[1].lower() not in {"string", "comment", "preamble"}
        }
    if keys and keys <= entries.keys():
        yield from (detex(entries[key]) for key in sorted(keys))


def _bib_titles(source: str) -> Iterator[tuple[str, str]]:
    starts = list(_BIB_ENTRY.finditer(source))
    for number, match in enumerate(starts):
        if match[1].lower() in {"string", "comment", "preamble"}:
            continue
        body = source[match.end() : starts[number + 1].start() if number + 1 < len(starts) else len(source)]
        title = re.search(r"(?<![a-z])title\s*=\s*", body, re.IGNORECASE)
        if title:
            text = body[title.end() :].lstrip()
            if text[:1] == "{":
                yield match[2], _braced(text, 0)
            elif quoted := re.match(r'"([^"]{1,500})"', text):
                yield match[2], quoted[1]
