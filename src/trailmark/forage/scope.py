"""Which links a forage leaves alone, whatever the strategy thinks of them."""

from __future__ import annotations

from trailmark.forage.traps import trap_reason
from trailmark.page import Link
from trailmark.site import Site

NOT_FOLLOWED = frozenset({"canonical"})  # another name of the page itself


def refusal(site: Site, link: Link) -> str:
    """Why a link is not followed, or an empty string."""
    if link.nofollow:
        return "nofollow"
    if link.kind in NOT_FOLLOWED:
        return "other_name"
    if not site.covers(link.url):
        return "out_of_scope"
    return trap_reason(link.url) or ""
