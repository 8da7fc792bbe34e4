"""Style sheets, scripts and pictures under URLs that name their content, so that they can be kept for ever."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from importlib.resources.abc import Traversable

from fastapi import FastAPI
from starlette.responses import Response

from trailmark.serve.web.errors import NotFound

FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file as it is sent."""

    name: str
    body: bytes
    digest: str

    @property
    def url(self) -> str:
        return f"/static/{self.digest}/{self.name}"

    @property
    def media_type(self) -> str:
        return mimetypes.guess_type(self.name)[0] or "application/octet-stream"


class StaticFiles:
    """All files of some folders, read once. A later folder's file stands for an earlier one's of its name."""

    def __init__(self, folders: Iterable[Traversable]) -> None:
        files = (file for folder in folders for file in folder.iterdir() if file.is_file())
        self._files = {file.name: _read(file) for file in files}

    def url(self, name: str) -> str:
        return self._files[name].url

    def answer(self, digest: str, name: str) -> Response:
        """The file; under an old digest too, but then it must not be kept."""
        file = self._files.get(name)
        if file is None:
            raise NotFound
        kept = FOREVER if digest == file.digest else "no-cache"
        return Response(file.body, headers={"cache-control": kept}, media_type=file.media_type)


def _read(file: Traversable) -> StaticFile:
    body = file.read_bytes()
    return StaticFile(file.name, body, blake2b(body, digest_size=6).hexdigest())


def add_static_files(app: FastAPI, files: StaticFiles) -> None:
    async def static(digest: str, name: str) -> Response:
        return files.answer(digest, name)

    app.add_api_route("/static/{digest}/{name}", static, methods=["GET"], include_in_schema=False)
