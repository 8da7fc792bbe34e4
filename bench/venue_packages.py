"""Files for `bench.papers_venues` and `bench.pdf`: Debian's packages that hold papers with their sources.

A folder is filled with one for each kind of venue and, below it, one for each package. It takes about 2.5 GB of
downloads, of which PDFs, PostScript, sources and bibliographies are kept. A package that is there already is not
fetched again. It needs apt-get, dpkg-deb and apt-file (after `apt-file update`), on Debian or one of its
derivatives.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

KINDS = {
    "statistics": r"r-(?:cran|other)-.*",
    "biology": r"r-bioc-.*",
    "publishers": r"texlive-publishers(?:-doc)?",
    "humanities": r"texlive-humanities(?:-doc)?",
    "science": r"texlive-science(?:-doc)?",
    "bibliographies": r"texlive-bibtex-extra",
    "german": r"texlive-lang-german",
    "english-french": r"texlive-lang-(?:english|french)",
    "others": r"texlive-lang-(?:polish|czechslovak|european|italian|spanish|portuguese|other)",
    "postscript": r"(?:spooles|mcl|hol88|fastlink|nas|sendmail|caspar|proj-ps|crossfire)-doc|elkdoc|cmucl-docs|"
    r"haskell98-report|xppaut|groff|a2ps|dvi2ps|src2tex|fig2dev|pstoedit|amanda-common|eigensoft|muttprint-manual",
    "manuals": r"texlive-(?:latex-extra|latex-recommended|latex-base|pictures|pstricks|metapost)-doc",
}
"""The packages of each kind, as patterns of their names."""
WANTED = re.compile(r"\.(?:pdf|ps|tex|ltx|[rs]nw|bib|bbl)(?:\.gz)?$|/CITATION$", re.IGNORECASE)


def package_names() -> list[str]:
    """Return the names of all packages with a PDF or PostScript file."""
    command = ["apt-file", "--package-only", "--regexp", "search", r"\.(?:pdf|ps)(?:\.gz)?$"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True)
    return sorted(set(listed.stdout.split()))


def missing(folder: Path, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield kind and name of each package that FOLDER lacks."""
    known = [(kind, re.compile(pattern)) for kind, pattern in KINDS.items()]
    for name in names:
        for kind, pattern in known:
            if pattern.fullmatch(name) and not (folder / kind / name).exists():
                yield kind, name


def fetch(kind: str, name: str, folder: Path) -> int:
    """Download a package, keep what is wanted of it, and return the number of files."""
    with tempfile.TemporaryDirectory() as downloads:
        subprocess.run(["apt-get", "download", name], cwd=downloads, check=True, capture_output=True)
        [package] = Path(downloads).glob("*.deb")
        return unpack(package, folder / kind / name)


def unpack(package: Path, target: Path) -> int:
    """Unpack what is wanted of a package, and return the number of files."""
    with tempfile.TemporaryDirectory(dir=_made(target.parent)) as part:
        unpacking = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE)
        with unpacking, tarfile.open(fileobj=unpacking.stdout, mode="r|") as tar:
            members = (member for member in tar if member.isfile() and WANTED.search(member.name))
            tar.extractall(part, members=members, filter="data")
        count = sum(path.is_file() for path in Path(part).rglob("*"))
        Path(part).replace(target)
        Path(part).mkdir()  # for the context manager to remove
    return count


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def fetch_all(folder: Path) -> None:
    """Fetch every package that FOLDER lacks, with a line on stderr for each."""
    for kind, name in missing(folder, package_names()):
        print(f"{kind}: {name}: {fetch(kind, name, folder)} files", file=sys.stderr, flush=True)
