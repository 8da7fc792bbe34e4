"""Where things stand on the portal: one address for a record, a topic, a search."""

from __future__ import annotations

from urllib.parse import quote, urlencode, urlsplit

from trailmark.serve.portal.keys import to_key


def record_url(kind: str, record_id: str) -> str:
    return f"/records/{to_key(kind)}/{to_key(record_id)}"


def search_url(query: str, **options: str | int | None) -> str:
    """A search with those of its options that differ from the usual."""
    chosen = {name: value for name, value in options.items() if value not in (None, "", 1)}
    return "/search?" + urlencode({"q": query, **chosen})


def field_query(field: str, text: str) -> str:
    """A search for a value in a field, as a person would type it."""
    plain = " ".join(text.replace('"', " ").split())
    return f'{field}:"{plain}"' if not plain.isalnum() else f"{field}:{plain}"


def outside_url(text: str) -> str:
    """An address that may stand in a link of ours; "" for what is no web address."""
    parts = urlsplit(text) if len(text) < 4000 and text.isprintable() else urlsplit("")
    return text if parts.scheme in {"http", "https"} and parts.netloc else ""


def doi_url(doi: str) -> str:
    found = doi.strip().lower().removeprefix("https://doi.org/").removeprefix("doi:").strip()
    return f"https://doi.org/{quote(found, safe='/()')}" if found.startswith("10.") else ""
