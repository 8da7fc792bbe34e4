"""The command line: one file per verb; each parses, calls and prints."""

from __future__ import annotations

import errno
import importlib
import os
import shlex
import sys
from pathlib import Path

import click

from wayhound import __version__
from wayhound.cli.verbs import HelpfulGroup
from wayhound.errors import WayhoundError, WorkspaceError
from wayhound.wording.faults import format_error

COMMANDS = {
    "compare": "wayhound.cli.compare:compare_command",
    "demo": "wayhound.cli.demo:demo",
    "evaluate": "wayhound.cli.evaluate:evaluate",
    "explain": "wayhound.cli.explain:explain",
    "export": "wayhound.cli.export:export",
    "forage": "wayhound.cli.forage:forage",
    "forage-worker": "wayhound.cli.forage:forage_worker",
    "index": "wayhound.cli.index:index",
    "init": "wayhound.cli.init:init",
    "papers": "wayhound.cli.papers:papers",
    "record": "wayhound.cli.record:record",
    "replay": "wayhound.cli.replay:replay",
    "samples": "wayhound.cli.samples:samples",
    "serve": "wayhound.cli.serve:serve",
    "status": "wayhound.cli.status:status",
    "submissions": "wayhound.cli.submissions:submissions",
    "studio": "wayhound.cli.studio:studio",
    "teach": "wayhound.cli.teach:teach_command",
    "topics": "wayhound.cli.topics:topics",
    "trails": "wayhound.cli.trails:trails",
    "train": "wayhound.cli.train:train",
}

SECTIONS = {
    "The way": {
        "init": "Make a folder a workspace.",
        "teach": "Show the way in a browser.",
        "trails": "Look at what was taught; import, export, check.",
        "train": "Learn from trails, and see how well.",
        "explain": "How the links of a page are rated, before any is followed.",
        "forage": "Walk sites, a few fetches each.",
        "status": "What runs did, and why each goal was taken.",
        "compare": "Which goals are new, changed or gone since the run before.",
        "export": "Pages, goals and records as JSON lines, CSV or Parquet.",
        "papers": "Read papers: fields, references, who cites whom.",
        "topics": "Fill a tree of topics from a few keywords.",
        "index": "Bring the search index up to date.",
        "serve": "The portal: search, browse and cite.",
        "studio": "All of it in a browser, for the operator.",
        "submissions": "Decide on what visitors of the portal sent in.",
    },
    "Recorded sites": {
        "record": "Record sites into folders.",
        "replay": "What recorded sites hold.",
        "evaluate": "Compare strategies on recorded sites.",
    },
    "To try": {
        "demo": "The whole way on the sample web.",
        "samples": "The sample web: list, serve or write it.",
    },
}
"""The verbs in the order of their use, in so few words that no file has to be loaded to tell them."""

FIRST_STEPS = {
    "wayhound demo": "see all of it in a minute",
    "wayhound init mine": "then begin: it says what comes next",
    "wayhound help forage": "what a command does",
}


class Verbs(HelpfulGroup):
    """Loads the file of a verb when it is asked for, so that `wayhound --help` answers at once."""

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


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="wayhound")
def cli() -> None:
    """Show it the way on a few websites; it finds the rest."""


def main() -> None:
    """Run a command; whatever goes wrong ends as one sentence and an exit code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    try:
        outcome = cli.main(arguments, prog_name="wayhound", standalone_mode=False)
    except click.exceptions.Abort:
        return _say("Stopped.", 130)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except WorkspaceError as error:
        return _say(f"{error}{_where_one_is(arguments)}", error.exit_code)
    except WayhoundError as error:
        return _say(format_error(error, "command line"), error.exit_code)
    except KeyboardInterrupt:
        return _say("Stopped.", 130)
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _say(_in_words(error), 3)
    return outcome if isinstance(outcome, int) else 0


def _say(sentence: str, exit_code: int) -> int:
    click.echo(f"wayhound: {sentence}", err=True)
    return exit_code


def _where_one_is(arguments: list[str]) -> str:
    """For those who stand beside their workspace and not in it."""
    here = sorted(Path().glob("*/wayhound.toml"))
    if not here or Path("wayhound.toml").exists() or {"-w", "--workspace"} & set(arguments):
        return ""
    return f" {here[0].parent} is one: add -w {shlex.quote(str(here[0].parent))}, or go there with cd."


def _in_words(error: OSError) -> str:
    where = f" ({error.filename})" if error.filename else ""
    if error.errno == errno.ENOSPC:
        return f"The disk is full{where}. Free some space and run the same command again: nothing is lost."
    return f"{error.strerror or error}{where}."
