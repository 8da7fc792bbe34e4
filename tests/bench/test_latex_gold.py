"""True values from LaTeX sources, for the bench of venues."""

from __future__ import annotations

from pathlib import Path

from bench.latex_gold import gold_of

BIB = "@book{lind, title = {Ways over Hills}}\n@book{wood, title = {No Way}}\n"


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_chapters_that_a_source_includes_are_read(tmp_path: Path) -> None:
    written(tmp_path, "list.bib", BIB)
    written(tmp_path, "one.tex", r"Text \cite{lind} and \cite{wood}.")
    source = r"\documentclass{thesis}\begin{document}\include{one}\bibliography{list}\end{document}"
    gold = gold_of(written(tmp_path, "main.tex", source))
    assert gold.references == ("Ways over Hills", "No Way")
    assert not gold.title


def test_a_source_that_is_not_whole_or_prints_two_lists_has_no_true_list(tmp_path: Path) -> None:
    written(tmp_path, "list.bib", BIB)
    for body in (r"\include{missing}\bibliography{list}", r"\printbibliography\printbibliography"):
        source = rf"\documentclass{{article}}\addbibresource{{list.bib}}\title{{On Ways}}\cite{{lind}}{body}"
        gold = gold_of(written(tmp_path, "main.tex", source))
        assert gold.references == ()
        assert gold.title == "On Ways"


def test_entries_with_unknown_commands_are_not_compared(tmp_path: Path) -> None:
    def source(name: str) -> str:
        return rf"\begin{{thebibliography}}{{1}}\bibitem{{a}} A. Lind. \{name}{{Ways}}. 1999.\end{{thebibliography}}"

    assert gold_of(written(tmp_path, "one.tex", source("emph"))).references == ("A. Lind. Ways. 1999",)
    assert gold_of(written(tmp_path, "two.tex", source("mymanual"))).references == ()
