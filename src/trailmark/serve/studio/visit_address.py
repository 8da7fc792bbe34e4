"""How pages of the studio name a visit: by run, site and number, in the query."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.requests import Request

from trailmark.serve.web.errors import BadRequest


@dataclass(frozen=True, slots=True)
class VisitAddress:
    run: int
    site: str
    visit: int

    @classmethod
    def of(cls, request: Request) -> VisitAddress:
        query = request.query_params
        run, visit = query.get("run", ""), query.get("visit", "")
        if not (_is_number(run) and _is_number(visit) and query.get("site")):
            raise BadRequest("Which page is meant? Open it from a run or from the review.")
        return cls(int(run), query["site"], int(visit))

    @property
    def fields(self) -> dict[str, object]:
        return {"run": self.run, "site": self.site, "visit": self.visit}

    @property
    def query(self) -> str:
        return urlencode(self.fields)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 12
