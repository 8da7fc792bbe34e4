"""Mutants of the code that guards: one operator, constant or statement is changed, and the tests must notice.

Each mutant is a copy of the package with one change, on which the tests of its module run in a process of their own: a
fork of this one, which has imported the libraries. A mutant that no test kills is listed with its line; `SURVIVORS` has
those that are known, with the reason. With `--resume FILE` the mutants that an earlier run of the same code tried
are not tried again.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import importlib.util
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from py_compile import PycInvalidationMode
from random import Random

import pytest

from bench.report import Bar, Report, add_output_options, add_resume_options, finish

LEAST_KILLED = 0.90
_LOOK_SECONDS = 0.02
_LIBRARIES = "aiohttp fastapi httpx hypothesis jinja2 numpy scipy.sparse tantivy uvicorn".split()
"""What most tests import, and takes longer than the tests that kill a mutant."""

ROOT = Path(__file__).parents[1]

TARGETS = {
    "net/guard.py": ["tests/net/test_guard.py", "tests/net/test_http.py"],
    "net/robots.py": ["tests/net/test_robots.py"],
    "store/runs.py": [
        "tests/store/test_contract.py", "tests/store/test_life_of_a_run.py", "tests/store/test_run_course.py",
    ],
    "store/forage.py": [
        "tests/store/test_contract.py", "tests/store/test_life_of_a_run.py", "tests/store/test_plans.py",
    ],
    "forage/politeness.py": ["tests/forage/test_politeness.py", "tests/forage/test_forager.py"],
    "forage/frontier.py": [
        "tests/forage/test_frontier.py", "tests/forage/test_adaptive.py", "tests/forage/test_site_program.py",
        "tests/forage/test_forager.py",
    ],
    "web/guards.py": [
        "tests/web/test_gate.py", "tests/portal/test_security.py", "tests/portal/test_parts.py", "tests/web",
    ],
    "studio/access.py": ["tests/studio/test_access.py"],
    "portal/addresses.py": ["tests/portal/test_parts.py", "tests/portal/test_search_pages.py"],
    "archive/warc.py": [
        "tests/archive/test_archive.py", "tests/archive/test_archive_reader.py", "tests/archive/test_archive_repair.py",
    ],
}  # fmt: skip
"""Modules, and the tests that must notice a change: guard, robots, leases and budgets, CSRF, escaping, WARC."""

SURVIVORS = {
    ("net/guard.py", "drop call", "self._threads.shutdown(wait=False, cancel_futures=True)"): "frees threads at last",
    ("net/guard.py", "flip", "self._threads.shutdown(wait=False, cancel_futures=True)"): "frees threads at last",
    ("net/robots.py", "never", "if not task.cancelled():"): "saves a warning at the end",
    ("net/robots.py", "drop not", "if not task.cancelled():"): "saves a warning at the end",
    ("net/robots.py", "drop call", "task.exception()  # seen, even if all who waited were cancelled"): (
        "saves a warning at the end"
    ),
    ("net/robots.py", "drop call", "task.cancel()"): "saves time at the end",
    ("net/robots.py", "drop call", "await asyncio.gather(*pending, return_exceptions=True)"): (
        "saves a warning at the end"
    ),
    ("net/robots.py", "flip", "await asyncio.gather(*pending, return_exceptions=True)"): "saves a warning at the end",
    ("net/robots.py", "compare", "self._cached_chars > MAX_CACHED_CHARS and len(self._policies) > 1"): (
        "rules of exactly eight million characters; those of one host are far below"
    ),
    ("forage/frontier.py", "flip", "taken: bool = False"): "`requeue` sets it for every link",
    ("forage/frontier.py", "return None", "return self.order < other.order"): "two entries of one link are alike",
    ("forage/frontier.py", "compare", "return self.order < other.order"): "two entries of one link are alike",
    ("forage/frontier.py", "never", "if not self.other_groups:"): "a short cut to the same groups",
    ("forage/frontier.py", "never", "if queued:"): "saves time on links that were taken",
    ("forage/frontier.py", "compare", "if abs(value - self._scored_at.get(group, _TYPICAL_SCORE)) >= _MIN_MOVE:"): (
        "differs for a move of .01 to the last bit"
    ),
    ("studio/access.py", "return None", "return False"): "what is asked for is true or not",
    ("web/guards.py", "drop call", "weakref.finalize(self, os.close, self.handle)"): "frees a file at last",
    ("store/forage.py", "drop call", "self._reserved.discard(job.id)"): "saves a deletion that finds no row",
    ("store/forage.py", "flip", "(job.id, visit.number, json.dumps(visit.why, ensure_ascii=False)),"): (
        "JSON that reads alike"
    ),
}  # fmt: skip
"""Changes that no test can notice, by module, change and line, with the reason. They are not counted."""

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Mod: ast.Mult,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutant:
    """A module with one change. `line` is the changed line as it was, `columns` the place in it, `node` in the tree."""

    module: str
    number: int
    columns: str
    line: str
    change: str
    node: int
    original: str

    @property
    def source(self) -> str:
        """The changed module: made when it is tried, since that of all mutants takes 15 seconds."""
        tree = ast.parse(self.original)
        _apply(next(islice(ast.walk(tree), self.node, None)), self.change)
        return ast.unparse(ast.fix_missing_locations(tree))

    @property
    def key(self) -> str:
        return f"{self.module}:{self.number}:{self.columns} {self.change}: {self.line}"


def mutants_of(module: str, source: str) -> Iterator[Mutant]:
    """Yield every mutant of a module. Decorators are left alone: mypy checks `frozen`, and `slots` saves memory."""
    tree, lines = ast.parse(source), source.splitlines()
    decorators = (part for node in ast.walk(tree) for part in getattr(node, "decorator_list", ()))
    left_alone = {id(node) for decorator in decorators for node in ast.walk(decorator)}
    for index, node in enumerate(ast.walk(tree)):
        for change in () if id(node) in left_alone else _changes(node):
            number = getattr(node, "lineno", 0)
            yield Mutant(
                module,
                number,
                f"{getattr(node, 'col_offset', 0)}-{getattr(node, 'end_col_offset', 0)}",
                lines[number - 1].strip(),
                change,
                index,
                source,
            )


def _changes(node: ast.AST) -> Iterator[str]:  # noqa: C901 - one line a change
    """Yield the names of the changes that a node allows; typing and messages are left alone."""
    match node:
        case ast.Compare(ops=[operator, *_]) if type(operator) in _COMPARED:
            yield "compare"
        case ast.BoolOp():
            yield "and/or"
        case ast.UnaryOp(op=ast.Not()):
            yield "drop not"
        case ast.BinOp(op=operator, left=left, right=right) if type(operator) in _COMPUTED:
            if not _is_type(left) and not _is_type(right):
                yield "compute"
        case ast.If() | ast.While() | ast.IfExp():
            yield "never"
        case ast.Return(value=value) if value is not None and not _is_constant_none(value):
            yield "return None"
        case ast.Raise():
            yield "drop raise"
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield "drop call"
        case ast.Constant(value=bool()):
            yield "flip"


def _is_type(node: ast.AST) -> bool:
    """Return True for a part of `int | None` and the like."""
    names = {"str", "int", "float", "bytes", "bool", "tuple", "list", "dict", "object"}
    is_name = isinstance(node, ast.Name) and (node.id in names or node.id[:1].isupper())
    return (
        is_name
        or _is_constant_none(node)
        or (
            isinstance(node, ast.Subscript | ast.JoinedStr | ast.Constant)
            and (not isinstance(node, ast.Constant) or isinstance(node.value, str | bytes))
        )
    )


def _is_constant_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _apply(node: ast.AST, change: str) -> None:
    match node, change:
        case ast.Compare(ops=[operator, *rest]), _:
            node.ops = [_COMPARED[type(operator)](), *rest]
        case ast.BoolOp(op=operator), _:
            node.op = ast.Or() if isinstance(operator, ast.And) else ast.And()
        case ast.UnaryOp(operand=operand), _:
            node.op = ast.Not()
            node.operand = ast.UnaryOp(ast.Not(), operand)
        case ast.BinOp(op=operator), _:
            node.op = _COMPUTED[type(operator)]()
        case ((ast.If() | ast.While() | ast.IfExp()), _):
            node.test = ast.Constant(value=False)
        case ast.Return(), _:
            node.value = ast.Constant(value=None)
        case ast.Raise(), _:
            node.__class__ = ast.Pass  # type: ignore[assignment]
            node._fields = ()  # type: ignore[misc]
        case ast.Expr(), _:
            node.value = ast.Constant(value=None)
        case ast.Constant(value=value), _:
            node.value = not value


@dataclass
class Laboratory:
    """A copy of the package in which one module is replaced by a mutant of it."""

    folder: Path

    def __post_init__(self) -> None:
        shutil.copytree(ROOT / "src", self.folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
        compileall.compile_dir(
            self.folder / "src", quiet=1, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH
        )
        for library in _LIBRARIES:
            importlib.import_module(library)

    def is_killed(self, mutant: Mutant, seconds: int) -> bool:
        path = self.folder / "src" / "wayhound" / mutant.module
        original = path.read_text()
        path.write_text(mutant.source)
        bytecode = Path(importlib.util.cache_from_source(str(path)))
        kept = bytecode.read_bytes()
        bytecode.unlink()
        try:
            return self.run(mutant.module, seconds) != 0
        finally:
            path.write_text(original)
            bytecode.write_bytes(kept)

    def run(self, module: str, seconds: int, *, writes_bytecode: bool = False) -> int | None:
        """Run the tests of a module with so many seconds of CPU time, and ten times as many to wait.

        Return their exit code; None if they waited too long. A mutant that loops for ever is killed by either limit.
        Bytecode of the tests is written once. That of a mutant would be read again for the next one.
        """
        child = os.fork()  # the libraries that tests need are imported once, here
        if child == 0:
            try:
                self._become_tests(module, seconds, "" if writes_bytecode else "1")
            finally:
                os._exit(2)
        end = time.monotonic() + 10 * seconds
        while time.monotonic() < end:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                _kill_group(child)  # processes that a killed test left behind
                return os.waitstatus_to_exitcode(status)
            time.sleep(_LOOK_SECONDS)
        _kill_group(child)
        os.waitpid(child, 0)
        return None

    def _become_tests(self, module: str, seconds: int, without_bytecode: str) -> None:
        """Run the tests in this process and end it; those that killed the mutant before come first."""
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nowhere, number)
        sys.dont_write_bytecode = bool(without_bytecode)
        os.environ["PYTHONDONTWRITEBYTECODE"] = without_bytecode
        os.environ["PYTHONPATH"] = f"{self.folder / 'src'}{os.pathsep}{ROOT}"
        sys.path.insert(0, str(self.folder / "src"))
        os.chdir(ROOT)
        options = [
            "-x",
            "-q",
            "--ff",
            "-o",
            f"cache_dir={self.folder / 'cache'}",
            "-p",
            "no:schemathesis",
            "-n",
            "0",
        ]
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # libraries that were imported before
        # what differs between databases is in other modules
        chosen = ["-m", "not browser", "-k", "not postgres"]
        os._exit(pytest.main([*options, *chosen, *TARGETS[module]]))


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_output_options(parser)
    parser.add_argument(
        "--module", action="append", choices=sorted(TARGETS), help="only this module; may be repeated"
    )
    parser.add_argument(
        "--sample", type=int, default=0, help="mutants of each module, drawn at random; 0: all"
    )
    add_resume_options(parser, "mutants")
    arguments = parser.parse_args()
    end = time.monotonic() + 60 * arguments.minutes if arguments.minutes else float("inf")
    chosen = {module: _chosen(module, arguments.sample) for module in arguments.module or TARGETS}
    with tempfile.TemporaryDirectory() as folder:
        tried = _try_all(Laboratory(Path(folder)), chosen, arguments.resume, end)
    return finish(_report(chosen, tried), arguments)


def _chosen(module: str, sample: int) -> list[Mutant]:
    source = (ROOT / "src" / "wayhound" / module).read_text()
    everyone = [
        mutant
        for mutant in mutants_of(module, source)
        if (module, mutant.change, mutant.line) not in SURVIVORS
    ]
    return Random(1).sample(everyone, min(sample, len(everyone))) if sample else everyone


def _try_all(
    laboratory: Laboratory, chosen: Mapping[str, Sequence[Mutant]], file: Path | None, end: float
) -> dict[str, float]:
    """Return which mutants were killed, by their keys; those that an earlier run tried included.

    The tests of each module first run without a change, which takes so long on a busy machine that nothing else may be
    done in some minutes. So their CPU seconds are kept in the file too, for as long as no code changes.
    """
    tried, digest = _earlier(file), _digest()
    for module, mutants in chosen.items():
        left = [mutant for mutant in mutants if mutant.key not in tried]
        if not left or time.monotonic() > end:
            continue
        unchanged = f"{module} as it is, {digest}"
        if unchanged not in tried:
            before = _child_seconds()
            if laboratory.run(module, 600, writes_bytecode=True) != 0:
                raise SystemExit(f"The tests of {module} fail without any change.")
            _keep(tried, file, unchanged, _child_seconds() - before)
        seconds = 10 + round(2 * tried[unchanged])
        for mutant in left:
            if time.monotonic() > end:
                break
            _keep(tried, file, mutant.key, laboratory.is_killed(mutant, seconds))
            if not tried[mutant.key]:
                print(f"alive: {mutant.key}", file=sys.stderr, flush=True)
    return tried


def _keep(tried: dict[str, float], file: Path | None, key: str, result: float) -> None:
    tried[key] = result
    if file:
        with file.open("a") as lines:
            lines.write(json.dumps([key, result]) + "\n")


def _digest() -> str:
    """Return what tells this code and its tests from any other."""
    digest = blake2b(digest_size=8)
    for path in sorted(path for room in ("src", "tests") for path in (ROOT / room).rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _child_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _earlier(file: Path | None) -> dict[str, float]:
    if file is None or not file.exists():
        return {}
    return dict(json.loads(line) for line in file.read_text().splitlines())


def _report(chosen: Mapping[str, Sequence[Mutant]], tried: Mapping[str, float]) -> Report:
    rows: list[tuple[str, int, int, int, float]] = []
    for module, mutants in chosen.items():
        killed = [bool(tried[mutant.key]) for mutant in mutants if mutant.key in tried]
        rows.append((module, len(mutants), len(killed), sum(killed), sum(killed) / max(1, len(killed))))
    n_mutants, n_tried, n_killed = (sum(counts) for counts in list(zip(*rows, strict=True))[1:4])
    return Report(
        "Mutants of the code that guards",
        ("module", "mutants", "tried", "killed", "share"),
        rows,
        [
            Bar("share of mutants killed", n_killed / max(1, n_tried), least=LEAST_KILLED),
            Bar("mutants tried", n_tried, least=n_mutants),
        ],
        {"survivors": [key for key, result in tried.items() if not result]},
    )


if __name__ == "__main__":
    raise SystemExit(main())
