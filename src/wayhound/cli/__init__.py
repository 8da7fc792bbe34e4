"""The command line: one module per verb, which parses, calls a use case of `app` and prints.

Not here: decisions (`app`) and sentences (`wording`). Data goes to stdout, progress and messages to stderr.
"""

from __future__ import annotations

import errno
import importlib
import os
import shlex
import sys
from pathlib import Path

import click

from wayhound import __version__
from wayhound.cli.language import Group
from wayhound.errors import WayhoundError, WorkspaceError
from wayhound.wording.faults import format_error

COMMANDS = {
    "chains": "wayhound.cli.chains:chains",
    "completion": "wayhound.cli.init:completion",
    "compare": "wayhound.cli.compare:compare_command",
    "demo": "wayhound.cli.demo:demo",
    "doctor": "wayhound.cli.upkeep:doctor",
    "evaluate": "wayhound.cli.evaluate:evaluate",
    "explain": "wayhound.cli.explain:explain",
    "export": "wayhound.cli.export:export",
    "extract": "wayhound.cli.extract:extract",
    "forage": "wayhound.cli.forage:forage",
    "forage-worker": "wayhound.cli.forage:forage_worker",
    "index": "wayhound.cli.serve:index",
    "init": "wayhound.cli.init:init",
    "papers": "wayhound.cli.papers:papers",
    "program": "wayhound.cli.program:program",
    "record": "wayhound.cli.record:record",
    "replay": "wayhound.cli.record:replay",
    "samples": "wayhound.cli.samples:samples",
    "serve": "wayhound.cli.serve:serve",
    "status": "wayhound.cli.status:status",
    "submissions": "wayhound.cli.submissions:submissions",
    "studio": "wayhound.cli.studio:studio",
    "teach": "wayhound.cli.teach:teach_command",
    "topics": "wayhound.cli.topics:topics",
    "trails": "wayhound.cli.trails:trails",
    "train": "wayhound.cli.train:train",
    "workspace": "wayhound.cli.upkeep:workspace_group",
}

SECTIONS = {
    "From clicks to a portal": {
        "init": "Make a folder a workspace.",
        "teach": "Show the way in a browser.",
        "trails": "List, check, import and export the trails that were taught.",
        "train": "Learn from the trails, and see how well.",
        "explain": "See how the links of a page are rated, before any is followed.",
        "forage": "Visit sites, with few fetches each.",
        "status": "See what runs did, and why each goal was taken.",
        "extract": "Read facts from pages: e-mail, phone, address and more, as a table.",
        "program": "See, edit or forget the way to the goals of a site.",
        "compare": "See which goals are new, changed or gone since the run before.",
        "export": "Write pages, goals and records as CSV, XLSX, JSON lines or Parquet.",
        "chains": "Extract relationships between pages, from a few example links.",
        "papers": "Read papers: fields, references, who cites whom.",
        "topics": "Place documents in a tree of topics, from a few keywords a topic.",
        "index": "Bring the search index up to date.",
        "serve": "Serve the portal: search, browse and cite.",
        "studio": "Do all of it in a browser.",
        "submissions": "Decide on what visitors of the portal sent in.",
    },
    "Recorded sites": {
        "record": "Record sites into folders.",
        "replay": "List what recorded sites contain, or serve them.",
        "evaluate": "Compare strategies on recorded sites.",
    },
    "Upkeep": {
        "doctor": "Check the installation and a workspace, and repair what can be.",
        "workspace": "Back up a workspace while it is in use, and restore it.",
    },
    "Try it": {
        "demo": "See everything on the sample web.",
        "samples": "List, serve or write the sample web.",
        "completion": "Complete commands with the Tab key.",
    },
}
"""The verbs in the order of their use. Here, and not in their modules, so that `--help` need not load those."""

FIRST_STEPS = {
    "wayhound demo": "see all of it in a minute",
    "wayhound init mine": "start a project; it says what comes next",
    "wayhound help forage": "read about a command",
}

MOVED = {
    ("teach", "--graph"): ("trails", "graph"),
    ("teach", "--from-free"): ("trails", "from-browsing"),
    ("teach", "--play"): ("trails", "from-script"),
}
"""Commands that were options of others before."""


class Verbs(Group):
    """Loads the module of a verb when it is called, so that `wayhound --help` answers at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(set(COMMANDS) - {"forage-worker"})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for title, verbs in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(list(verbs.items()))
        with formatter.section("First steps"):
            formatter.write_dl(list(FIRST_STEPS.items()))


@click.group(
    cls=Verbs, moved=MOVED, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="wayhound")
def cli() -> None:
    """Show it the way on a few websites; it finds the rest."""


def main() -> None:
    """Run the command of `sys.argv`, and exit with its code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code. Errors that a person can mend are one sentence on stderr."""
    try:
        outcome = cli.main(arguments, prog_name="wayhound", standalone_mode=False)
    except click.exceptions.Abort:
        return _fail("Stopped.", 130)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except WorkspaceError as error:
        nearby = _workspace_nearby(arguments) if error.next_step.startswith("init") else ""
        return _fail(f"{error}{nearby}" if nearby else _message(error, arguments), error.exit_code)
    except WayhoundError as error:
        return _fail(_message(error, arguments), error.exit_code)
    except KeyboardInterrupt:
        return _fail("Stopped.", 130)
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _fail(_describe(error), 3)
    return outcome if isinstance(outcome, int) else 0


def _fail(message: str, exit_code: int) -> int:
    click.echo(f"wayhound: {message}", err=True)
    return exit_code


def _message(error: WayhoundError, arguments: list[str]) -> str:
    """Return the message of an error; a suggested command names the workspace if the failed one did."""
    message = format_error(error, "command line")
    if not error.next_step or error.next_step.startswith("init"):
        return message
    named = (number for number, argument in enumerate(arguments[:-1]) if argument in ("-w", "--workspace"))
    return message + "".join(f" -w {shlex.quote(arguments[number + 1])}" for number in named)


def _workspace_nearby(arguments: list[str]) -> str:
    """Return a hint for those whose current folder holds the workspace, but is none."""
    nearby = sorted(Path().glob("*/wayhound.toml"))
    if not nearby or Path("wayhound.toml").exists() or {"-w", "--workspace"} & set(arguments):
        return ""
    folder = nearby[0].parent
    return f" {folder} is one: add -w {shlex.quote(str(folder))}, or go there with cd."


def _describe(error: OSError) -> str:
    where = f" ({error.filename})" if error.filename else ""
    if error.errno == errno.ENOSPC:
        return f"The disk is full{where}. Free some space and run the same command again: nothing is lost."
    return f"{error.strerror or error}{where}."
