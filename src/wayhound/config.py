"""The settings of a workspace, read from `wayhound.toml`; every setting has a default."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from wayhound.errors import ConfigError

FILE_NAME = "wayhound.toml"


def _setting(
    default: Any,
    about: str,
    allowed: str,
    *,
    least: float = 0,
    most: float = float("inf"),
    pattern: str = "",
) -> Any:
    """Return a dataclass field with its documentation; `allowed` completes the sentence "must be …"."""
    limits = {"least": least, "most": most, "pattern": pattern}
    return field(default=default, metadata={"about": about, "allowed": allowed, **limits})


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """The name and address of the crawler."""

    name: str = _setting(
        "Wayhound",
        "The crawler's name, by which robots.txt can address it.",
        "letters, - and _",
        pattern=r"[A-Za-z_-]+",
    )
    contact: str = _setting(
        "",
        "Where the owners of the sites that you visit can reach you.",
        "a URL or a mail address",
        pattern=r"[!-~]*",
    )


@dataclass(frozen=True, slots=True)
class FetchConfig:
    """Requests for pages."""

    delay_seconds: float = _setting(
        1.0, "Pause between two requests to a host; a longer one in robots.txt wins.", "a number from 0 up"
    )
    connect_seconds: float = _setting(
        10.0, "Time limit for making a connection.", "a number above 0", least=0.001
    )
    read_seconds: float = _setting(
        20.0, "How long a host may be silent in the middle of a response.", "a number above 0", least=0.001
    )
    total_seconds: float = _setting(60.0, "Time limit for one page.", "a number above 0", least=0.001)
    max_body_bytes: int = _setting(
        5_000_000,
        "Pages larger than this, once decompressed, are skipped.",
        "a whole number above 0",
        least=1,
    )
    respect_robots: bool = _setting(True, "Obey robots.txt.", "true or false")
    allow_private: bool = _setting(
        False, "Allow requests to loopback and private addresses.", "true or false"
    )
    render: str = _setting(
        "auto",
        "Show pages to a browser: where their scripts make them (auto, if a browser is installed), never or always.",
        "auto, never or always",
        pattern="auto|never|always",
    )


@dataclass(frozen=True, slots=True)
class ForageConfig:
    """The limits of a forage."""

    budget_per_site: int = _setting(100, "Requests per site.", "a whole number from 0 up")
    max_depth: int | None = _setting(
        None, "Clicks from the start page; no limit if unset.", "a whole number from 0 up"
    )
    min_probability: float | None = _setting(
        None,
        "Report pages from this probability on as goals; if unset, as many as balance misses and false goals best.",
        "a number from 0 to 1",
        most=1,
    )
    min_goals_left: float = _setting(
        0.0,
        "End a site when the rest of its requests is expected to find fewer goals than this; 0: go on.",
        "a number from 0 up",
    )
    sites_at_once: int = _setting(
        50, "Sites that one process forages at the same time.", "a whole number above 0", least=1
    )
    lease_seconds: float = _setting(
        60.0,
        "Other processes take over the sites of one that has been silent for so long.",
        "a number from 1 up",
        least=1,
    )


@dataclass(frozen=True, slots=True)
class FactsConfig:
    """Facts extracted from pages."""

    persons: bool = _setting(
        True,
        "Keep facts about persons: people as a kind, and e-mail addresses with a person's name.",
        "true or false",
    )
    query_log: bool = _setting(
        False,
        "Keep the queries of the portal's visitors, the day and the words alone, as a workload.",
        "true or false",
    )
    alpha: float = _setting(
        2.0,
        "Each further thing that answers a query for a group is worth so many times less.",
        "a number above 1",
        least=1.001,
    )
    beta: float = _setting(
        2.0,
        "Each further value of one field is worth so many times less.",
        "a number above 1",
        least=1.001,
    )
    c: float = _setting(
        1.0,
        "Worth of the first value of a field, against which that of what no query asks for stays the same.",
        "a number above 0",
        least=0.001,
    )
    corroboration: float = _setting(
        0.0,
        "Worth of a second source for an uncertain value, as a share of that of a new one.",
        "a number from 0 to 1",
        most=1,
    )
    success: str = _setting(
        "host",
        "What tells whether a page will yield facts: its host so far, or its own elements and words (slower).",
        "host or page",
        pattern="host|page",
    )


LOCATION = r"|file:///.+|s3://[A-Za-z0-9._-]+(?:/.*)?"
"""The addresses of places for an archive that several machines share."""


@dataclass(frozen=True, slots=True)
class Config:
    """All settings: by section, and where the parts of the workspace are."""

    agent: AgentConfig = field(default_factory=AgentConfig)
    fetch: FetchConfig = field(default_factory=FetchConfig)
    forage: ForageConfig = field(default_factory=ForageConfig)
    facts: FactsConfig = field(default_factory=FactsConfig)
    database: str = field(
        default="",
        repr=False,  # it may hold a password
        metadata={
            "about": "The Postgres database, for several machines: postgresql://USER@HOST:PORT/DATABASE; if empty, "
            "wayhound.db in this folder. The password may be in PGPASSWORD or ~/.pgpass instead.",
            "allowed": "postgresql://USER@HOST:PORT/DATABASE or empty",
            "pattern": r"|postgres(?:ql)?://[!-~]+",
            "secret": True,
        },
    )
    archive: str = _setting(
        "",
        "The place of the archive, for several machines: s3://BUCKET/PREFIX, or file:///FOLDER for a shared folder; "
        "if empty, this folder.",
        "s3://BUCKET/PREFIX, file:///FOLDER or empty",
        pattern=LOCATION,
    )

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a settings file. Raises ConfigError with the line of the first mistake."""
        try:
            return cls.from_toml(path.read_text("utf-8"), str(path))
        except OSError as error:
            raise ConfigError(f"{path} cannot be read: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise ConfigError(f"{path} is not text in UTF-8.") from None

    @classmethod
    def from_toml(cls, text: str, name: str = FILE_NAME) -> Self:
        try:
            tables = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{name} is not TOML: {error}.") from None
        return cls._from_tables(tables, _Source(name, text))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the settings that another process has passed on as the JSON of `dataclasses.asdict`."""
        return cls._from_tables(json.loads(text), _Source("The settings", ""))

    @classmethod
    def _from_tables(cls, tables: Mapping[str, Any], source: _Source) -> Self:
        places = {setting.name: setting for setting in _places()}
        for name, value in tables.items():
            if name in places:
                if not _is_allowed(places[name], value):
                    raise source.error("", name, f"{name} must be {_expected(places[name], value)}")
            elif not isinstance(value, dict):
                raise source.error("", name, f"{name} must be in a section: {', '.join(SECTIONS)}")
            elif name not in SECTIONS:
                raise source.error(name, "", f"[{name}] is unknown; the sections are {', '.join(SECTIONS)}")
        return cls(
            **{name: tables[name] for name in places if name in tables},
            **{name: _section(kind, name, tables.get(name, {}), source) for name, kind in SECTIONS.items()},
        )


SECTIONS: Mapping[str, type[Any]] = {
    "agent": AgentConfig,
    "fetch": FetchConfig,
    "forage": ForageConfig,
    "facts": FactsConfig,
}


def _places() -> list[Field[Any]]:
    """Return the settings outside of the sections."""
    return [setting for setting in fields(Config) if setting.name not in SECTIONS]


@dataclass(frozen=True, slots=True)
class _Source:
    """The text that settings come from, so that an error can name the line."""

    name: str
    text: str

    def error(self, section: str, key: str, problem: str) -> ConfigError:
        line = self._line(section, key)
        return ConfigError(f"{self.name}{f', line {line}' if line else ''}: {problem}.")

    def _line(self, section: str, key: str) -> int:
        """Return the line of the key, or of the section if there is no key; 0 if it is not found."""
        inside = not section
        for number, line in enumerate(self.text.splitlines(), start=1):
            if header := re.match(r"\s*\[\s*([^\]\s]+)\s*\]", line):
                inside = header[1] == section
                if inside and not key:
                    return number
            elif inside and key and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
                return number
        return 0


def _section(kind: type[Any], name: str, table: Mapping[str, Any], source: _Source) -> Any:
    settings = {setting.name: setting for setting in fields(kind)}
    for key, value in table.items():
        if key not in settings:
            raise source.error(
                name, key, f"{key} is unknown in [{name}]; the settings are {', '.join(settings)}"
            )
        if not _is_allowed(settings[key], value):
            raise source.error(name, key, f"{key} in [{name}] must be {_expected(settings[key], value)}")
    return kind(**table)


def _expected(setting: Field[Any], value: Any) -> str:
    """Return what a setting must be, and what it is unless that is nobody's business."""
    found = "" if "secret" in setting.metadata else f", not {value!r}"
    return f"{setting.metadata['allowed']}{found}"


def _is_allowed(setting: Field[Any], value: Any) -> bool:
    match setting.type:
        case "bool":
            return isinstance(value, bool)
        case "str":
            return isinstance(value, str) and re.fullmatch(setting.metadata["pattern"], value) is not None
        case "int | None" | "float | None" if value is None:
            return True
        case "float" | "float | None":
            low, high = setting.metadata["least"], setting.metadata["most"]
            return _is_number(value, int | float) and low <= value <= high and value != float("inf")
        case _:
            return _is_number(value, int) and value >= setting.metadata["least"]


def _is_number(value: Any, kinds: Any) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def default_toml(**places: str) -> str:
    """Return a `wayhound.toml` that documents every setting and sets it to its default.

    `places` are settings outside of the sections: `database`, `archive`.
    """
    sections = [
        "\n".join([f"[{name}]", f"# {kind.__doc__}", *(_documented(setting) for setting in fields(kind))])
        for name, kind in SECTIONS.items()
    ]
    about = "# The settings of this Wayhound workspace. Lines that begin with # are comments."
    outside = [_documented(setting, places.get(setting.name)).lstrip() for setting in _places()]
    return "\n\n".join([about, *outside, *sections, ""])


def with_places(settings: str, **places: str) -> str:
    """Return the text of a settings file with these values of settings outside of the sections; all else stays."""
    sections = re.search(r"(?m)^\s*\[", settings)
    head, rest = (settings[: sections.start()], settings[sections.start() :]) if sections else (settings, "")
    for name, value in places.items():
        line = f"{name} = {_to_toml(value)}"
        escaped = line.replace("\\", r"\\")  # a replacement has escapes of its own
        head, count = re.subn(rf"(?m)^\s*[\"']?{name}[\"']?\s*=.*$", escaped, head)
        head = head if count else f"{head.rstrip()}\n\n{line}\n\n".lstrip()
    return head + rest


def _documented(setting: Field[Any], value: str | None = None) -> str:
    """Return the lines of a setting, with its default or a value; one without a default is commented out."""
    default = value or setting.default
    example = "0.7" if setting.type == "float | None" else "5"
    line = f"# {setting.name} = {example}" if default is None else f"{setting.name} = {_to_toml(default)}"
    return f"\n# {setting.metadata['about']}\n{line}"


def _to_toml(value: Any) -> str:
    return f"{value:_}" if _is_number(value, int) else json.dumps(value)
