"""A page that was fetched before, and how to ask for it so that the server sends it only if it has changed."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime

from wayhound.archive.warc_write import Original
from wayhound.fetched import Failed, Fetched

Headers = tuple[tuple[str, str], ...]

NOT_MODIFIED = 304
MAX_VALIDATOR_CHARS = 500

# With its quotes, as RFC 9110, section 8.8.3 has it: a bare `*` would be met by whatever the page becomes.
_ENTITY_TAG = re.compile(r'(?:W/)?"[!#-~]*"')
# As Apache names a page that it packs. It packs after it has compared tags, so that by this name alone it would never
# find a page unchanged; by the name before packing it does.
_TAG_OF_PACKED = re.compile(r'((?:W/)?"[!#-~]+)-(?:gzip|br|deflate)"')
_PRINTABLE = re.compile(r"[ -~]+")


@dataclass(frozen=True, slots=True)
class Earlier:
    """A page as the archive holds it.

    `first` is the last response that brought its body and `record` stands for it; `body` is the record that
    holds the body, which is another one where that had been stored before, and `digest` is that of the body.
    `conditions` are the headers that ask for the page only if it has changed since the server last spoke of it.
    """

    first: Fetched
    record: Original
    body: Original
    digest: bytes
    conditions: Headers

    def is_confirmed_by(self, answer: Fetched) -> bool:
        """Whether the server says that the page is still this one. Who was not asked cannot say so."""
        return answer.status == NOT_MODIFIED and bool(self.conditions)

    def told_by(self, answer: Fetched | Failed) -> Fetched | Failed:
        """What an answer tells: this page, if the server says that it is still the same; else the answer itself."""
        if isinstance(answer, Fetched) and self.is_confirmed_by(answer):
            return confirmed(self.first, answer)
        return answer


def conditions_of(headers: Headers) -> Headers:
    """If-None-Match and If-Modified-Since by what an answer said; none where it said nothing that can be used."""
    known = {name.lower(): value.strip() for name, value in reversed(headers)}  # of several the first
    asked = []
    if _is_tag(tag := known.get("etag", "")):
        packed = _TAG_OF_PACKED.fullmatch(tag)
        asked.append(("If-None-Match", f'{tag}, {packed[1]}"' if packed else tag))
    if _is_date(date := known.get("last-modified", "")):
        asked.append(("If-Modified-Since", date))
    return tuple(asked)


def confirmed(first: Fetched, answer: Fetched) -> Fetched:
    """`first` as a 304 leaves it: with the headers that came now, except those about the body, which did not come
    (RFC 9111, section 3.2)."""
    said = tuple([(name, value) for name, value in answer.headers if not _is_of_body(name)])
    renewed = {name.lower() for name, _ in said}
    kept = tuple([(name, value) for name, value in first.headers if name.lower() not in renewed])
    return replace(first, headers=kept + said, ip=answer.ip, wait_seconds=answer.wait_seconds)


def _is_of_body(name: str) -> bool:
    return name.lower().startswith(("content-", "transfer-encoding"))


def _is_tag(value: str) -> bool:
    return len(value) <= MAX_VALIDATOR_CHARS and _ENTITY_TAG.fullmatch(value) is not None


def _is_date(value: str) -> bool:
    if len(value) > MAX_VALIDATOR_CHARS or not _PRINTABLE.fullmatch(value):
        return False
    try:
        parsedate_to_datetime(value)
    except (ValueError, TypeError, OverflowError):
        return False
    return True
