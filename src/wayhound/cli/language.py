"""The language of the command line: options that mean the same in every command, and spellings of before.

An option that two commands share is defined here, once. `docs/reference.md` lists them, and a test checks that no
command gives one of these names another meaning.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., object])

OTHER_WORDS: Mapping[str, str] = {
    "backup": "workspace",
    "check": "doctor",
    "correct": "studio",
    "crawl": "forage",
    "fetch": "forage",
    "goals": "status",
    "learn": "train",
    "new": "init",
    "portal": "serve",
    "repair": "doctor",
    "restore": "workspace",
    "results": "status",
    "review": "studio",
    "run": "forage",
    "runs": "status",
    "scrape": "forage",
    "search": "serve",
    "show": "teach",
    "spider": "forage",
    "start": "init",
    "ui": "studio",
    "web": "studio",
}
"""Words that people try, with the command that they mean."""

# Options


def workspace_option(function: Function) -> Function:
    """Add `--workspace` as `folder`."""
    option = click.option(
        "--workspace",
        "-w",
        "folder",
        metavar="FOLDER",
        type=click.Path(path_type=Path, file_okay=False),
        default=Path(),
        help="The workspace folder.  [default: the current folder]",
    )
    return option(function)


def json_option(function: Function) -> Function:
    """Add `--json` as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")(function)


def out_option(function: Function) -> Function:
    """Add `--out` as `path`: a file to write instead of stdout."""
    option = click.option(
        "--out",
        "path",
        metavar="PATH",
        type=click.Path(path_type=Path, dir_okay=False),
        callback=_check_folder,
        help="Write to this file.  [default: stdout]",
    )
    return option(function)


def _check_folder(_context: click.Context, _parameter: click.Parameter, value: Path | None) -> Path | None:
    """Refuse a file in a folder that does not exist: before the work whose result it takes, and not after."""
    if value is None or value.parent.is_dir():
        return value
    raise click.BadParameter(f"There is no folder {value.parent}. Make it first, or write elsewhere.")


def run_option(function: Function) -> Function:
    """Add `--run` as `run_id`."""
    option = click.option(
        "--run", "run_id", metavar="N", type=int, help="Only this run; `wayhound status` numbers them."
    )
    return option(function)


def limit_option(default: int, noun: str) -> Callable[[Function], Function]:
    """Add `--limit` as `limit`."""
    return click.option(
        "--limit",
        default=default,
        metavar="N",
        type=click.IntRange(1),
        show_default=True,
        help=f"Show at most this many {noun}.",
    )


def features_option(default: int, noun: str) -> Callable[[Function], Function]:
    """Add `--features` as `features`."""
    return click.option(
        "--features",
        default=default,
        metavar="N",
        type=click.IntRange(0),
        show_default=True,
        help=f"Show this many of the strongest features of each {noun}.",
    )


def port_option(default: int, *, or_free: bool = False) -> Callable[[Function], Function]:
    """Add `--port` as `port`. With `or_free` it is None by default: any free port if the default is taken."""
    return click.option(
        "--port",
        default=None if or_free else default,
        metavar="PORT",
        type=click.IntRange(0, 65535),
        show_default=not or_free,
        help="Listen at this port; 0 takes a free one."
        + (f"  [default: {default}, or a free one]" if or_free else ""),
    )


def workers_option(default: int | None = None) -> Callable[[Function], Function]:
    """Add `--workers` as `workers`: None stands for one process per core."""
    return click.option(
        "--workers",
        default=default,
        metavar="N",
        type=click.IntRange(1, 64),
        show_default=default is not None,
        help="Processes." if default else "Processes.  [default: one per core]",
    )


def cluster_options(function: Function) -> Function:
    """Add `--cluster` as `cluster` and `--workers-per-node` as `workers_per_node`."""
    function = click.option(
        "--workers-per-node",
        type=click.IntRange(1, 256),
        metavar="N",
        help="Workers on each machine of the cluster.  [default: one per core]",
    )(function)
    return cluster_option(function)


def cluster_option(function: Function) -> Function:
    """Add `--cluster` as `cluster`."""
    return click.option(
        "--cluster",
        metavar="WHERE",
        callback=_check_cluster,
        help="Use a Ray cluster: ray://HOST:PORT, auto for that of this machine, or local for one that is started here "
        "(docs/cluster.md).",
    )(function)


def _check_cluster(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    if value is None or value in ("auto", "local") or re.fullmatch(r"(ray://)?[^\s/]+:\d+", value):
        return value
    raise click.BadParameter(f"{value!r} is none of ray://HOST:PORT, auto and local.")


def budget_option(default: int | None = None) -> Callable[[Function], Function]:
    """Add `--budget` as `budget`: None stands for the setting of the workspace."""
    return click.option(
        "--budget",
        default=default,
        metavar="PAGES",
        type=click.IntRange(0),
        show_default=default is not None,
        help="Fetch at most this many pages per site." + ("" if default else "  [default: wayhound.toml]"),
    )


def fetch_options(function: Function) -> Function:
    """Add `--depth`, `--delay` and `--allow-private`."""
    for option in (
        allow_private_option,
        delay_option,
        click.option(
            "--depth",
            metavar="CLICKS",
            type=click.IntRange(0),
            help="Follow links at most this far from the start page.",
        ),
    ):
        function = option(function)
    return function


def delay_option(function: Function) -> Function:
    """Add `--delay` as `delay`: None stands for the setting of the workspace."""
    option = click.option(
        "--delay",
        metavar="SECONDS",
        type=click.FloatRange(0),
        help="Wait between two requests to a host.  [default: wayhound.toml]",
    )
    return option(function)


def allow_private_option(function: Function) -> Function:
    """Add `--allow-private` as `allow_private`."""
    option = click.option(
        "--allow-private", is_flag=True, help="Also fetch from loopback and private addresses."
    )
    return option(function)


def seed_option(function: Function) -> Function:
    """Add `--seed` as `seed`."""
    return click.option("--seed", default=0, metavar="N", show_default=True, help="Seed for random choices.")(
        function
    )


def goal_label_option(*, multiple: bool = False) -> Callable[[Function], Function]:
    """Add `--goal` as `goal`, or as `goals` if it may be repeated."""
    return click.option(
        "--goal",
        "goals" if multiple else "goal",
        metavar="LABEL",
        required=True,
        multiple=multiple,
        help="The label of the goal pages" + ("; may be repeated." if multiple else "."),
    )


trails_option = click.option(
    "--trails",
    "trails_a_site",
    default=15,
    metavar="N",
    type=click.IntRange(1),
    show_default=True,
    help="Make this many trails to goals on each site, and as many that end elsewhere.",
)


# Commands


class Command(click.Command):
    """A command that still takes its options' former names, and says what they are called now.

    `renamed` maps former to present names, such as `{"--goals": "--max-goals"}`. A former name is replaced before
    the arguments are parsed, so that the rest of the command knows one spelling.
    """

    def __init__(self, *arguments: Any, renamed: Mapping[str, str] | None = None, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.renamed = dict(renamed or {})

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [self._present(argument, args) for argument in args])

    def _present(self, argument: str, args: Sequence[str]) -> str:
        name, equals, value = argument.partition("=")
        if name not in self.renamed or "--" in args[: args.index(argument)]:
            return argument
        note_renamed(name, self.renamed[name])
        return f"{self.renamed[name]}{equals}{value}"


class RenamedChoice(click.Choice[str]):
    """A choice that still takes former names of its values."""

    def __init__(self, choices: Sequence[str], renamed: Mapping[str, str]) -> None:
        super().__init__(choices)
        self._renamed = renamed

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in self._renamed:
            note_renamed(value, self._renamed[value])
            value = self._renamed[value]
        return super().convert(value, param, ctx)


def note_renamed(former: str, present: str) -> None:
    """Say on stderr that a spelling still works for this version only."""
    click.echo(f"Note: `{former}` is now `{present}`. The old spelling works in this version only.", err=True)


class Group(click.Group):
    """Commands with help for those who do not know their names.

    `help VERB` is `VERB --help`, and for an unknown word the nearest command is suggested. `moved` maps a command
    and an option that hid another command to the words that call it now: `("teach", "--graph")` to
    `("trails", "graph")`.
    """

    command_class = Command

    def __init__(
        self,
        *arguments: Any,
        moved: Mapping[tuple[str, str], tuple[str, ...]] | None = None,
        **attributes: Any,
    ) -> None:
        super().__init__(*arguments, **attributes)
        self.moved = dict(moved or {})

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        args = self._present(args)
        name, rest = args[0], args[1:]
        if name == "help" and self.get_command(ctx, name) is None:
            if not rest:
                click.echo(ctx.get_help())
                ctx.exit()
            name, args = rest[0], [*rest, "--help"]
        if self.get_command(ctx, name) is None:
            ctx.fail(self._no_such(ctx, name))
        return super().resolve_command(ctx, args)

    def _present(self, args: list[str]) -> list[str]:
        """Return the arguments with commands that have moved called by their present names."""
        for (verb, option), words in self.moved.items():
            if args[0] == verb and option in args:
                note_renamed(f"{verb} {option}", " ".join(words))
                return [*words, *(argument for argument in args[1:] if argument != option)]
        return args

    def _no_such(self, ctx: click.Context, name: str) -> str:
        names = self.list_commands(ctx)
        matches = [other] if (other := OTHER_WORDS.get(name.lower(), "")) in names else []
        matches = matches or difflib.get_close_matches(name.lower(), names, n=2)
        suggestion = (
            f" Do you mean `{'` or `'.join(f'{ctx.command_path} {match}' for match in matches)}`?"
            if matches
            else ""
        )
        return f"No such command '{name}'.{suggestion}"
