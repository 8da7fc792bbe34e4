"""The portal on a real port, in a thread of the test."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from wayhound.portal.app import make_portal
from wayhound.portal.portal import PortalSettings
from wayhound.web.app import WebSettings, running

NO_LIMIT = WebSettings(requests_per_second=0)
MANY = PortalSettings(name="Harbour papers", submissions_per_hour=100_000)


@dataclass(frozen=True)
class Got:
    """A response as it came over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Served:
    """A running portal; paths are sent as they are, whatever stands in them."""

    url: str
    log: list[str] = field(default_factory=list)

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    def get(self, path: str, **headers: str) -> Got:
        return self.send("GET", path, None, headers)

    def post(self, path: str, form: dict[str, str], **headers: str) -> Got:
        typed = {"content-type": "application/x-www-form-urlencoded"} | headers
        return self.send("POST", path, urlencode(form).encode(), typed)

    def send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Got:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        try:
            connection.request(method, path, body, named)
            answer = connection.getresponse()
            told = {name.lower(): text for name, text in answer.getheaders()}
            return Got(answer.status, told, answer.read())
        finally:
            connection.close()


@contextmanager
def serve_portal(
    folder: Path, settings: PortalSettings = MANY, web: WebSettings = NO_LIMIT
) -> Iterator[Served]:
    with running(make_portal(folder, settings, web)) as address:
        yield Served(address.rstrip("/"))
