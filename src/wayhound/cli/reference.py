"""`docs/reference.md`, written from the commands: `python -m wayhound.cli.reference > docs/reference.md`."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping

import click

from wayhound.cli import SECTIONS, cli
from wayhound.cli.language import Command
from wayhound.forage.scorers import SCORERS

LINE = 119  # characters; the docs are wrapped at 120

INTRODUCTION = """\
# Commands

<!-- Written by `python -m wayhound.cli.reference`; change the commands, not this page. -->

Data goes to stdout, progress and messages to stderr. Most commands end with what to do next; `--help` after a command,
or `wayhound help COMMAND`, explains it, and for a mistyped command the nearest one is suggested.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | failed |
| 2 | the request cannot be carried out as it was put |
| 3 | the workspace cannot be used |
| 4 | an archive cannot be read or written |
| 5 | a model file cannot be used |
| 6 | nothing can be learned from the trails |
| 130 | stopped at the keyboard |
"""

WORDS: Mapping[str, str] = {
    "workspace": "one folder, one project: settings, database, archive, models and index. `-w` names it; by default it "
    "is the current folder ([workspace.md](workspace.md))",
    "sites": "SITES are web addresses (`acme.example` is enough), or files of them: one start page a line, or a table "
    "saved from a spreadsheet as CSV, of which the column headed `website`, `url` or the like is read. After a start "
    "page, a line may name more hosts that belong to the site; `#` begins a comment. "
    "Lines and rows without an address are skipped, and named in a message",
    "goal": "a page or file that you look for; its label in files is `Goal`",
    "reject": "to say that a page is not a goal: *Reject* in the bar of the browser (Alt+Shift+X), in Review (x) and "
    "beside results; the label in files is `Fail`. `submissions reject` declines what a visitor sent in",
    "trail": "the clicks from a start page to a goal or a rejected page, with the labels of the pages on the way",
    "undo": "`trails undo`, `papers undo` and `topics undo` take back the last change, and called again the one "
    "before; so do *Undo* in the bar (Alt+Shift+Z), in Review (z) and in the pages of the studio",
    "resume": "to continue what was stopped or killed: the same command once more. Nothing that was saved is fetched "
    "a second time",
    "again": "`--again` repeats what is finished: the forage of a site, the fetch of a page, the reading of a paper",
    "run": "one forage of a list of sites. `--new-run` starts another, even if one could be resumed",
    "seed": "the number that random choices start from, and nothing else",
}

OPTIONS: Mapping[str, str] = {
    "--host": "with `forage`, a host that belongs to the sites too; with `serve`, the address to listen at",
    "--wide": "one row for each row of a table of sites, with its own columns",
    "--workload": "a file of queries, or `portal` for those of its visitors: what they ask for comes first",
    "--facts": "facts to look for or to show, such as contact",
    "--serve": "serve sites on loopback until Ctrl-C",
    "--again": "repeat what is finished",
    "--allow-private": "also fetch from loopback and private addresses",
    "--browser": "the Chromium to use",
    "--budget": "the most pages to fetch from a site: requests sent, redirects and retries included, robots.txt not",
    "--by": "who taught or corrected; by default you",
    "--citations": "a file of citations",
    "--cluster": "the Ray cluster to work on instead of this machine alone",
    "--delay": "seconds between two requests to a host; a longer Crawl-delay in robots.txt wins",
    "--depth": "clicks from the start page",
    "--features": "how many of the strongest features to show",
    "--format": "the format of a file",
    "--from-forage": "use what forages have found",
    "--goal": "the label of the goal pages",
    "--json": "print JSON to stdout, one object or one a line, and nothing else there",
    "--keyword": "a word of what is looked for",
    "--limit": "the most rows to show",
    "--model": "the name of a trained model",
    "--offline": "use archived pages alone; fetch nothing",
    "--out": "the file or folder to write",
    "--port": "the port to listen at; 0 takes a free one",
    "--recorded": "a recorded site to read pages from; may be repeated",
    "--reply": "a sentence for the sender of a submission",
    "--run": "the number of a run, as `wayhound status` shows it",
    "--seed": "the seed for random choices",
    "--site": "the start page of a site",
    "--strategy": "the order in which links are followed",
    "--teach": "a folder of recorded sites to learn from",
    "--trails": "how many trails to goals to make on a site",
    "--tree": "a shipped topic tree, or a file",
    "--workers": "how many processes",
    "--workspace": "the workspace folder; also `-w`",
}
"""Options that more than one command has, each with its one meaning."""

STRATEGIES: Mapping[str, str] = {
    "breadth-first": "nearest pages first",
    "best-first": "keywords and their synonyms in the link and in its page's name; similarity to example pages",
    "random": "any order, by a seed",
    "adaptive": "the way that was taught, with words for the same thing in many languages; goals are recognised by "
    "three models together ([adaptive.md](adaptive.md))",
    "path-learner": "the way that was taught: labels of links along the path, times what they are worth "
    "([path-learner.md](path-learner.md))",
    "maxent": "the same without the path: every page and link is labelled by itself, by maximum entropy",
    "naive-bayes": "the same, by naive Bayes",
    "focused": "links that look most like links to goals, as focused crawlers do",
    "q-spider": "the future reward that a link's words predict, learned from whole recorded sites "
    "([spiders.md](spiders.md))",
    "hop-hmm": "how few clicks a useful page is away, by a hidden Markov model of marked browsing "
    "([spiders.md](spiders.md))",
    "hop-crf": "the same by a conditional random field, with keywords ([spiders.md](spiders.md))",
}

CHANGES: Mapping[str, str] = {
    "new": "a goal that the run before did not have, also because the site itself is new",
    "changed": "its title or its visible words have changed; of files, their bytes. Markup that differs from request "
    "to request does not count",
    "moved": "the same content at another address; `was` is the old one",
    "gone": "requested and no longer there: `why` is `http_404`, `http_410`, `redirect` or `not a goal any more`",
    "unseen": "the run did not get to it, so nothing is known: `why` is a reason code such as `timeout` or `robots`, "
    "or why the site stopped, such as `no links left` or `budget spent`",
}

MORE: Mapping[str, str] = {
    "forage": f"""\
With a larger budget, sites that had spent theirs are resumed too. Without hosts in its line, everything under the
registrable domain of the start page belongs to a site. Servers that support it send pages only if they have changed
since an earlier run ([fetching.md](fetching.md)).

### Strategies
| name | order |
|---|---|
{"".join(f"| `{name}` | {words} |{chr(10)}" for name, words in STRATEGIES.items() if name in SCORERS)}
The last five need a model (`wayhound train`). With `adaptive`, all fetched pages of a site together decide
which are goals and which are likely ones; with the others, a page is a goal if the model gives it a probability of at
least one half, given the path that led there. A model that is trained again makes another run.

### Why a site stopped
`no links left`, `budget spent`, `total budget spent`, `goals found`, `no link outscores the goal found`, `nothing
promising left`, `start page failed (REASON)`, `site does not answer (REASON)`, `asked to wait N s`. Reason codes
are in [fetching.md](fetching.md); tables in the terminal and in the studio put them in words.

### Links that are not followed
Links marked `nofollow`, by themselves, by their page or by its headers ([fetching.md](fetching.md)); `rel=canonical`;
links to a host that has failed six times in a row; and everything outside the site. As traps: URLs of more than 512
characters, paths of more than 16 segments or with a segment that occurs three times, more than 6 parameters; after 30
pages of one calendar-like shape, and after 60 combinations of parameters for one path. A page with the same content as
an earlier one is kept as `duplicate`, and its links are not followed a second time.
""",
    "compare": f"""\
| kind | meaning |
|---|---|
{"".join(f"| `{kind}` | {words} |{chr(10)}" for kind, words in CHANGES.items())}
A table has the columns `site`, `kind`, `url`, `title`, `why`, `was`, `words_added` and `words_removed`. Sites that
AFTER does not have are left out. The end of a forage that repeats another, and `wayhound status`, sum the changes up.
""",
    "export": "The columns are in [workspace.md](workspace.md).\n",
    "explain": """\
`the way here` among the features of a page is what the path promised before the page was read, as the logarithm of the
odds of a goal. With `--json`, `left_alone` lists the links that would not be followed, and why.
""",
    "teach": "The bar, free browsing and documents are explained in [teach.md](teach.md).\n",
    "trails": "What trails are, and how their files look: [trails.md](trails.md).\n",
    "papers": "ID may be the beginning of an id. What is read, and how: [papers.md](papers.md).\n",
    "topics": "Trees, training and suggestions are explained in [topics.md](topics.md).\n",
    "index": "The query language, ranking and facets are explained in [search.md](search.md).\n",
    "serve": "Pages, feeds and how to run it behind another server: [portal.md](portal.md).\n",
    "studio": "Every page is explained in [studio.md](studio.md).\n",
    "record": "Site folders are described in [archive.md](archive.md).\n",
    "evaluate": "What is measured, and how: [evaluation.md](evaluation.md).\n",
    "samples": "The sites are described in [samples.md](samples.md).\n",
}
"""Paragraphs of the reference that a command's help does not have."""


def reference() -> str:
    """Return the text of `docs/reference.md`."""
    words = _table(("word", "meaning"), ((word, meaning) for word, meaning in WORDS.items()))
    options = _table(("option", "meaning"), ((f"`{name}`", meaning) for name, meaning in OPTIONS.items()))
    parts = [
        INTRODUCTION,
        f"## One word for one thing\n{words}\n",
        f"## Options that mean the same everywhere\n{options}\n",
        *(_command(name) for verbs in SECTIONS.values() for name in verbs),
    ]
    return "\n".join(parts)


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yield every command that people type, with its words: `trails list`."""
    for name in (name for verbs in SECTIONS.values() for name in verbs):
        command = _loaded(name)
        if isinstance(command, click.Group):
            yield from (
                (f"{name} {below}", each) for below, each in command.commands.items() if not each.hidden
            )
        else:
            yield name, command


def _loaded(name: str) -> click.Command:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return command


def _command(name: str) -> str:
    command = _loaded(name)
    more = MORE.get(name, "").rstrip("\n")
    blocks = [f"## {_usage(name, command)}\n{_help(command)}", _options(command), _former(command), more]
    if isinstance(command, click.Group):
        for below, each in command.commands.items():
            if not each.hidden:
                blocks += [
                    f"### {_usage(f'{name} {below}', each)}\n{_help(each)}",
                    _options(each),
                    _former(each),
                ]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _usage(name: str, command: click.Command) -> str:
    arguments = (_argument(param) for param in command.params if isinstance(param, click.Argument))
    return " ".join(["wayhound", name, *arguments])


def _argument(param: click.Argument) -> str:
    metavar = (param.metavar or (param.name or "").upper()).strip("[].…")
    more = "…" if param.nargs == -1 else ""
    return f"{metavar}{more}" if param.required else f"[{metavar}{more}]"


def _help(command: click.Command) -> str:
    """Return the help of a command as Markdown; blocks after a backspace mark stay as they are."""
    blocks = re.split(r"\n\s*\n", inspect.cleandoc(command.help or ""))
    return "\n\n".join(_block(block) for block in blocks)


def _block(block: str) -> str:
    if block.startswith("\b"):
        return "\n".join(["```", *block.splitlines()[1:], "```"])
    return _wrapped(_defaults(" ".join(block.split())))


def _wrapped(text: str) -> str:
    lines, line = list[str](), ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > LINE:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return "\n".join([*lines, line])


def _options(command: click.Command) -> str:
    options = (param for param in command.params if isinstance(param, click.Option) and not param.hidden)
    rows = [(_option(param), _meaning(param)) for param in options if "--workspace" not in param.opts]
    return _table(("option", "meaning"), rows) if rows else ""


def _former(command: click.Command) -> str:
    """Return which spellings of options are taken for one more version."""
    former = command.renamed.items() if isinstance(command, Command) else ()
    pairs = ", ".join(f"`{present}` for `{old}`" for old, present in former)
    return (
        _wrapped(f"Renamed, and taken under the former name for one more version: {pairs}.") if pairs else ""
    )


def _option(param: click.Option) -> str:
    name = max(param.opts, key=len)
    if param.is_flag:
        return f"`{name}`"
    choices = "\\|".join(map(str, param.type.choices)) if isinstance(param.type, click.Choice) else ""
    return f"`{name} {choices or param.metavar or (param.name or '').upper()}`"


def _meaning(param: click.Option) -> str:
    default = ""
    if param.show_default and param.default is not None and not param.is_flag:
        default = f" Default: {param.default}."
    return _defaults(param.help or "") + default


def _defaults(text: str) -> str:
    """Return a help text with `[default: …]` as a sentence."""
    return re.sub(r"\s*\[default: (.*)\]$", r" Default: \1.", text)


def _table(head: tuple[str, str], rows: Iterator[tuple[str, str]] | list[tuple[str, str]]) -> str:
    lines = [f"| {' | '.join(head)} |", "|---|---|", *(f"| {left} | {right} |" for left, right in rows)]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(reference())
