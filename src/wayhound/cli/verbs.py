"""Commands are found by their name; who mistypes one, or uses another word for it, is told which is meant."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

import click

OTHER_WORDS: Mapping[str, str] = {
    "correct": "studio",
    "crawl": "forage",
    "fetch": "forage",
    "goals": "status",
    "learn": "train",
    "new": "init",
    "portal": "serve",
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
"""Words that people try, and what we call it."""


class HelpfulGroup(click.Group):
    """`help VERB` is `VERB --help`, and a word that is no command gets the nearest one as an answer."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, rest = args[0], args[1:]
        if name == "help" and self.get_command(ctx, name) is None:
            if not rest:
                click.echo(ctx.get_help())
                ctx.exit()
            return super().resolve_command(ctx, [*rest, "--help"])
        if self.get_command(ctx, name) is None:
            ctx.fail(self._no_such(ctx, name))
        return super().resolve_command(ctx, args)

    def _no_such(self, ctx: click.Context, name: str) -> str:
        known = self.list_commands(ctx)
        meant = [other] if (other := OTHER_WORDS.get(name.lower(), "")) in known else []
        meant = meant or difflib.get_close_matches(name.lower(), known, n=2)
        told = (
            f" Do you mean `{'` or `'.join(f'{ctx.command_path} {each}' for each in meant)}`?"
            if meant
            else ""
        )
        return f"No such command '{name}'.{told}"
