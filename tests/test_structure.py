"""Limits on size and shape that keep the tree readable; import-linter checks the layers."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import wayhound

ROOT = Path(wayhound.__file__).parent

MAX_CLASS_LINES = 300
MAX_METHODS = 20
MAX_POSITIONAL_ARGUMENTS = 6


@cache
def modules() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text("utf-8")) for path in sorted(ROOT.rglob("*.py"))}


def nodes(kind: type[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    for path, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, kind):
                yield f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}", node


def test_no_class_has_grown_too_large() -> None:
    too_large = []
    for place, node in nodes(ast.ClassDef):
        assert isinstance(node, ast.ClassDef)
        methods = sum(isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) for part in node.body)
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if lines > MAX_CLASS_LINES or methods > MAX_METHODS:
            too_large.append(f"{place} {node.name}: {lines} lines, {methods} methods")
    assert not too_large


def test_calls_pass_more_than_six_arguments_by_keyword() -> None:
    assert not [
        place
        for place, node in nodes(ast.Call)
        if isinstance(node, ast.Call)
        and len(node.args) > MAX_POSITIONAL_ARGUMENTS
        and not any(isinstance(argument, ast.Starred) for argument in node.args)
    ]


def test_docstrings_open_with_a_verb_or_a_noun() -> None:
    opening = re.compile(r"(?:What|Who|Whether|How|Where|Which|When|Tells)\b(?! many\b)")
    texts = (
        (place, node.value.value)
        for place, node in nodes(ast.Expr)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
    assert not [place for place, text in texts if opening.match(text)]


def test_a_class_name_means_one_class() -> None:
    places = defaultdict(list)
    for path, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(ROOT)))
    assert not {name: found for name, found in places.items() if len(found) > 1}


def test_every_package_says_what_lives_there_and_what_does_not() -> None:
    packages = [path for path in modules() if path.name == "__init__.py"]
    short = [
        str(path.relative_to(ROOT))
        for path in packages
        if len((ast.get_docstring(modules()[path]) or "").splitlines()) < 2
    ]
    assert not short
