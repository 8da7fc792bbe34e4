"""`wayhound samples`: list, serve or write the sample web."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click
from rich.table import Table

from wayhound.cli.console import err, out, plain_table, until_interrupted
from wayhound.cli.language import Command, port_option
from wayhound.errors import UsageError
from wayhound.samples import SampleSite, SampleWeb, sample_web, serve_samples, write_folder
from wayhound.samples.films import FilmSite


@click.command(cls=Command)
@click.option("--serve", is_flag=True, help="Serve the sites on loopback until Ctrl-C.")
@port_option(8765)
@click.option("--out", "folder", metavar="PATH", type=click.Path(path_type=Path, file_okay=False),
              help="Write the sites with their labels and true records into this folder.")  # fmt: skip
def samples(serve: bool, port: int, folder: Path | None) -> None:
    """List, serve or write the sample web: invented departments, companies and a film catalogue.

    Each site is built in its own way. They are the same on every machine, and need no internet.
    """
    web = sample_web()
    if folder is not None:
        write_folder(web, folder)
        err.print(f"The sample web is in {folder}.")
    if serve:
        _serve(web, port)
    elif folder is None:
        out.print(_table(web))
        err.print("\nTo look at them in a browser: wayhound samples --serve")


def _serve(web: SampleWeb, port: int) -> None:
    try:
        with serve_samples(web, port=port) as server:
            err.print(f"The sample web is at http://localhost:{server.port}/ until you press Ctrl-C.")
            for seed in (*server.seeds(), f"http://{web.films.host}:{server.port}/"):
                out.print(seed)
            until_interrupted()
    except OSError as error:
        raise UsageError(
            f"Port {port} cannot be used: {error.strerror}. Choose another with --port."
        ) from None


def _table(web: SampleWeb) -> Table:
    table = plain_table("host", "kind", "title", "pages", "most frequent labels", right=("pages",))
    sites: list[SampleSite | FilmSite] = [*web.sites, web.films]
    for site in sites:
        labels = Counter(site.labels().values()).most_common(4)
        frequent = ", ".join(f"{number} {label}" for label, number in labels)
        table.add_row(site.host, site.kind, site.title, str(len(site.pages)), frequent)
    return table
