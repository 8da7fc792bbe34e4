"""The place of an archive that many machines share: a folder (`file:///…`) or an object store (`s3://…`).

A location holds whole files, which are never changed: archive segments and builds of the search index. The names are
paths such as `archive/wayhound-….warc.gz`. S3 is spoken by obstore (docs/archive.md says why).
"""

from __future__ import annotations

import io
import os
import re
import shutil
from collections import OrderedDict
from collections.abc import Iterator
from configparser import ConfigParser
from configparser import Error as IniError
from contextlib import contextmanager
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from tempfile import NamedTemporaryFile
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, cast
from urllib.parse import unquote, urlsplit

from wayhound.config import LOCATION
from wayhound.errors import ArchiveError, ArchiveUnavailable, MissingExtra, UsageError
from wayhound.files import atomic_file

if TYPE_CHECKING:
    from obstore.store import S3Config, S3Store

BLOCK_BYTES = 256 << 10
"""Read at a time from an object store. A request takes about 30 ms whatever it brings, and 256 KiB another 3 ms; the
pages of one site lie close together."""

CACHED_BLOCKS = 128
BUFFER_BYTES = 16 << 10
PART_BYTES = 8 << 20  # of an upload; stores take 10,000 parts at most, so files of up to 80 GB
RETRY_SECONDS = 20.0


class ArchiveFile(Protocol):
    """An archive file for reading. A `Path` is one."""

    @property
    def name(self) -> str: ...
    def with_name(self, name: str, /) -> Self: ...
    def is_file(self) -> bool: ...
    def open(self, mode: Literal["rb"], /) -> io.BufferedReader: ...


class Location(Protocol):
    """A place for whole files.

    All methods raise ArchiveUnavailable if it does not answer or refuses, with a sentence that says what to do. That is
    no ArchiveError: what cannot be reached is not lost.
    """

    @property
    def url(self) -> str: ...
    def check(self) -> None:
        """Raise ArchiveUnavailable, before a long job begins, if files cannot be listed and written."""

    def put(self, name: str, path: Path) -> None:
        """Store a copy of a file. When this returns, it is there in full length."""

    def size(self, name: str) -> int | None:
        """Return the bytes of a file; None if there is none."""

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the bytes of all files in and below a folder, by name."""

    def read(self, name: str) -> bytes | None:
        """Return the content of a small file; None if there is none."""

    def open(self, name: str) -> io.BufferedReader:
        """Open a file for reading at any offset. Raises FileNotFoundError."""

    def delete(self, name: str) -> None:
        """Delete a file, if it is there."""


def open_location(url: str) -> Location:
    """Return the location at `url`. Nothing is read or written yet.

    Raises UsageError if `url` is none, MissingExtra if it needs a library that is not installed.
    """
    if not url or not re.fullmatch(LOCATION, url):
        raise UsageError(
            f"{url!r} is no place for an archive. Write s3://BUCKET/PREFIX, or file:///FOLDER for a shared folder."
        )
    if url.startswith("s3:"):
        if not find_spec("obstore"):
            raise MissingExtra("An archive in an object store", "obstore", "s3")
        return ObjectStore(url)
    return SharedFolder(Path(unquote(urlsplit(url).path)))


class SharedFolder:
    """A folder that all machines see under one path, such as an NFS mount."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.url = folder.as_uri()

    def check(self) -> None:
        self._must_be_there()
        with self._plain_errors():
            _check_writing(self)

    def put(self, name: str, path: Path) -> None:
        target = self._path(name)
        with self._plain_errors():
            target.parent.mkdir(parents=True, exist_ok=True)
            with path.open("rb") as source, atomic_file(target) as copy:
                shutil.copyfileobj(source, copy, 1 << 20)
            stored, sent = target.stat().st_size, path.stat().st_size
        if stored != sent:
            raise _incomplete(self.url, name, stored, sent)

    def size(self, name: str) -> int | None:
        with self._plain_errors():
            try:
                return self._path(name).stat().st_size
            except FileNotFoundError:
                self._must_be_there()
                return None

    def sizes(self, folder: str) -> dict[str, int]:
        with self._plain_errors():
            self._must_be_there()
            paths = (path for path in (self._folder / folder).rglob("*") if not path.name.endswith(".part"))
            return {
                path.relative_to(self._folder).as_posix(): path.stat().st_size
                for path in paths
                if path.is_file()
            }

    def read(self, name: str) -> bytes | None:
        with self._plain_errors():
            try:
                return self._path(name).read_bytes()
            except FileNotFoundError:
                self._must_be_there()
                return None

    def open(self, name: str) -> io.BufferedReader:
        with self._plain_errors():
            try:
                return self._path(name).open("rb")
            except FileNotFoundError:
                self._must_be_there()
                raise

    def delete(self, name: str) -> None:
        with self._plain_errors():
            self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / name

    def _must_be_there(self) -> None:
        """Raise unless the folder is there: a mount that is gone must not look like files that are lost."""
        if not self._folder.is_dir():
            raise ArchiveUnavailable(
                f"The folder {self._folder}, the archive's place, is not there. Mount it or make it, then run the "
                "same command again."
            )

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError as error:
            raise ArchiveUnavailable(
                f"The archive's place {self._folder} cannot be used: {(error.strerror or str(error)).lower()}."
            ) from error


class ObjectStore:
    """A bucket, or what begins with a prefix in it, of S3 or of a store that speaks its protocol.

    Credentials, region and endpoint come from the environment (AWS_ACCESS_KEY_ID, AWS_REGION, AWS_ENDPOINT_URL, …),
    from the profile in ~/.aws, or from the machine's own role, in this order.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._blocks = _BlockCache()
        self._sizes: dict[str, int] = {}  # of files that were seen: they never change

    @property
    def _store(self) -> S3Store:
        """The client; one for all threads of this process. It is made when it is first used."""
        if "_client" not in self.__dict__:
            self._client = _make_client(self.url)
        return self._client

    def check(self) -> None:
        with self._plain_errors():
            next(iter(self._store.list("archive/", chunk_size=1)), None)
        _check_writing(self)

    def put(self, name: str, path: Path) -> None:
        sent = path.stat().st_size
        with self._plain_errors():
            # a body of one part is sent with one request, a larger one in parts, each tried again if it fails
            self._store.put(
                name, path, chunk_size=PART_BYTES, use_multipart=sent > PART_BYTES, max_concurrency=4
            )
            stored = self._store.head(name)["size"]
        if stored != sent:
            raise _incomplete(self.url, name, stored, sent)
        self._blocks.forget(name)
        self._sizes[name] = sent

    def size(self, name: str) -> int | None:
        if name not in self._sizes:
            with self._plain_errors():
                try:
                    self._sizes[name] = self._store.head(name)["size"]
                except FileNotFoundError:
                    return None
        return self._sizes[name]

    def sizes(self, folder: str) -> dict[str, int]:
        with self._plain_errors():
            return {
                entry["path"]: entry["size"]
                for entries in self._store.list(f"{folder}/")
                for entry in entries
            }

    def read(self, name: str) -> bytes | None:
        with self._plain_errors():
            try:
                return bytes(self._store.get(name).bytes())
            except FileNotFoundError:
                return None

    def open(self, name: str) -> io.BufferedReader:
        size = self.size(name)
        if size is None:
            raise FileNotFoundError(f"{self.url}/{name}")
        return io.BufferedReader(_RangeFile(self, name, size), buffer_size=BUFFER_BYTES)

    def delete(self, name: str) -> None:
        with self._plain_errors():
            self._store.delete(name)
        self._sizes.pop(name, None)

    def block(self, name: str, number: int, size: int) -> bytes:
        """Return the bytes of a file from `number` * BLOCK_BYTES on, up to the next block."""
        found = self._blocks.get(name, number)
        if found is None:
            start = number * BLOCK_BYTES
            with self._plain_errors():
                found = bytes(self._store.get_range(name, start=start, end=min(start + BLOCK_BYTES, size)))
            self._blocks.add(name, number, found)
        return found

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        """Turn the library's errors into FileNotFoundError or a sentence."""
        from obstore import exceptions  # noqa: PLC0415 - most workspaces have no object store

        try:
            yield
        except (OSError, exceptions.BaseError, ValueError) as error:
            missing = isinstance(error, FileNotFoundError | exceptions.NotFoundError)
            if missing and "NoSuchBucket" not in str(error):
                raise FileNotFoundError(str(error)) from None
            raise ArchiveUnavailable(_explain(error, self.url)) from error


_REFUSALS = (
    "AccessDenied",
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "ExpiredToken",
    "403 Forbidden",
    "401 Unauth",
)


def _explain(error: Exception, url: str) -> str:
    """Return a sentence for an error of the library, whose kinds tell less than the answer of the store."""
    text = str(error)
    if "NoSuchBucket" in text:
        return f"There is no bucket for {url}. Check its name, or make it, then run the same command again."
    if any(refusal in text for refusal in _REFUSALS):
        return (
            f"The object store refuses access to {url}. Check the credentials (AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY, or a profile) and that they may list, read, write and delete there."
        )
    return (
        f"The object store of {url} does not answer ({_short(error)}). If that lasts, check the network and "
        "AWS_ENDPOINT_URL."
    )


def _check_writing(location: Location) -> None:
    with NamedTemporaryFile() as file:
        file.write(b"Wayhound keeps archive segments and search indexes here.\n")
        file.flush()
        location.put("README.txt", Path(file.name))


class _RangeFile(io.RawIOBase):
    """A file of an object store, read block by block."""

    def __init__(self, store: ObjectStore, name: str, size: int) -> None:
        self._store, self._name, self._size = store, name, size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(start + offset, 0)
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer unless the file ends: a record may begin with the last byte of a block."""
        done = 0
        while done < len(buffer) and self._at < self._size:
            number, skipped = divmod(self._at, BLOCK_BYTES)
            data = self._store.block(self._name, number, self._size)[skipped : skipped + len(buffer) - done]
            buffer[done : done + len(data)] = data
            done += len(data)
            self._at += len(data)
        return done


class _BlockCache:
    """The blocks that were read last, for all threads."""

    def __init__(self) -> None:
        self._blocks: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._lock = Lock()

    def get(self, name: str, number: int) -> bytes | None:
        with self._lock:
            if (name, number) in self._blocks:
                self._blocks.move_to_end((name, number))
            return self._blocks.get((name, number))

    def add(self, name: str, number: int, data: bytes) -> None:
        with self._lock:
            self._blocks[name, number] = data
            if len(self._blocks) > CACHED_BLOCKS:
                self._blocks.popitem(last=False)

    def forget(self, name: str) -> None:
        with self._lock:
            for key in [key for key in self._blocks if key[0] == name]:
                del self._blocks[key]


class SpooledSegment:
    """A segment of an archive with a location: read from the local folder while it is there, else from the location."""

    def __init__(self, name: str, folder: Path, location: Location) -> None:
        self.name = name
        self._folder, self._location = folder, location

    def __str__(self) -> str:
        return f"{self._location.url}/{archive_name(self.name)}"

    def with_name(self, name: str, /) -> SpooledSegment:
        return SpooledSegment(name, self._folder, self._location)

    def is_file(self) -> bool:
        return self.size() is not None

    def size(self) -> int | None:
        """Return the bytes of the segment, of the local one as it is now; None if it is nowhere."""
        try:
            return (self._folder / self.name).stat().st_size
        except FileNotFoundError:
            return self._location.size(archive_name(self.name))

    def open(self, _mode: Literal["rb"], /) -> io.BufferedReader:
        try:
            return (self._folder / self.name).open("rb")
        except FileNotFoundError:  # uploaded, perhaps just now
            return self._location.open(archive_name(self.name))


def archive_name(segment: str) -> str:
    """Return the name of a segment at its location. Raises ArchiveError for what is no file name."""
    if PurePosixPath(segment).name != segment:
        raise ArchiveError(f"{segment!r} is no name of an archive file.")
    return f"archive/{segment}"


def _make_client(url: str) -> S3Store:
    from obstore.store import S3Store  # noqa: PLC0415 - most workspaces have no object store

    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL", "")
    options: S3Config = _profile()
    if endpoint:
        options["endpoint"] = endpoint
    if not any(os.environ.get(name) for name in ("AWS_REGION", "AWS_DEFAULT_REGION")):
        options.setdefault("region", "us-east-1")
    return S3Store.from_url(
        url,
        config=options,
        client_options={
            "allow_http": endpoint.startswith("http://"),
            "connect_timeout": timedelta(seconds=5),
            "timeout": timedelta(seconds=120),
        },
        retry_config={"max_retries": 6, "retry_timeout": timedelta(seconds=RETRY_SECONDS)},
    )


def _profile() -> S3Config:
    """Return the credentials and region of the profile in ~/.aws, if any: the library itself does not read them."""
    if os.environ.get("AWS_ACCESS_KEY_ID"):
        return {}
    name = os.environ.get("AWS_PROFILE", "default")
    home = Path.home() / ".aws"
    files = {
        os.environ.get("AWS_SHARED_CREDENTIALS_FILE") or home / "credentials": name,
        os.environ.get("AWS_CONFIG_FILE") or home / "config": name
        if name == "default"
        else f"profile {name}",
    }
    found: dict[str, Any] = {}
    for path, section in files.items():
        parser = ConfigParser(interpolation=None)
        try:
            parser.read(path, "utf-8")
        except (OSError, UnicodeDecodeError, IniError):
            continue
        for key in ("aws_access_key_id", "aws_secret_access_key", "aws_session_token", "region"):
            if parser.has_option(section, key):
                found.setdefault(key, parser.get(section, key))
    return cast("S3Config", found if "aws_access_key_id" in found else {})


def _incomplete(url: str, name: str, stored: int, sent: int) -> ArchiveUnavailable:
    return ArchiveUnavailable(
        f"{url} holds {stored:,} bytes of {name} where {sent:,} were sent. It is sent again."
    )


def _short(error: BaseException) -> str:
    """Return the last cause of an error in few words: the library's own messages have many lines."""
    causes = re.findall(
        r"(?:reason|message|description): \"?([^\n\"]{4,80})|error sending request", str(error)
    )
    named = [cause for cause in causes if cause]
    return (named[-1] if named else str(error).splitlines()[0][:120]).rstrip(" .,:")
