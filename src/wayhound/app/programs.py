"""Find and edit the programs of sites: the routes with which their next forages begin."""

from __future__ import annotations

import time
from dataclasses import replace

from wayhound.errors import UsageError
from wayhound.forage.site_program import SiteProgram
from wayhound.store.site_notes import KeptProgram
from wayhound.url import host_of
from wayhound.workspace import Workspace


def find_program(workspace: Workspace, site: str, purpose: str = "") -> KeptProgram:
    """Return the program of a site, named by its start page or host: the one for a purpose, or the latest.

    Raises UsageError if there is none.
    """
    if not site.strip():
        raise UsageError(
            "Name the site whose program you want: its start page or its host, such as acme.example."
        )
    host = host_of(site if "//" in site else f"http://{site}")
    programs = [
        kept
        for kept in workspace.stores.site_notes.programs()
        if site in (kept.start, kept.start.rstrip("/")) or ("//" not in site and host_of(kept.start) == host)
    ]
    wanted = [kept for kept in programs if not purpose or kept.purpose == purpose]
    if wanted:
        return wanted[0]
    if programs:
        raise UsageError(
            f"{site} has no program for {purpose!r}, but for {', '.join(repr(kept.purpose) for kept in programs)}."
        )
    raise UsageError(
        f"There is no program of {site}. A forage writes one down when two or more goals of a site were reached in "
        "the same way."
    )


def edit_program(workspace: Workspace, kept: KeptProgram, text: str) -> KeptProgram:
    """Save a program as a person wrote it. Raises UsageError, naming the line, if it cannot be read."""
    program = SiteProgram.parse(text.replace("\r\n", "\n"))
    edited = replace(kept, program=str(program), edited=True, at=time.time())
    workspace.stores.site_notes.edit_program(edited)
    return edited
