"""The exceptions for misuse and damage. Their messages say what happened and what to do.

    WayhoundError
    ├── UsageError            the request cannot be carried out as it is
    │   ├── MissingExtra      a library of an extra is not installed
    │   ├── NotInWorkspace    nothing in the workspace has that number or name
    │   ├── ConfigError       wayhound.toml is not valid
    │   ├── PageUnavailable   a page that was asked for could not be fetched or read
    │   └── PluginError       an installed plugin is broken
    ├── WorkspaceError        the workspace folder cannot be used
    │   ├── WorkspaceLocked   another process holds it
    │   └── LeaseLost         another worker has taken over a site
    ├── ArchiveError          a WARC file or site folder cannot be read or written
    │   └── SegmentMissing    an archive file is neither here nor at the archive's location
    ├── ArchiveUnavailable    the location of the archive does not answer, or refuses access
    ├── ModelError            a model file is damaged, foreign or newer than this version
    ├── NotFitted             an estimator was used before fit
    └── TeachingError         the example trails cannot be learned from

Expected failures of the web (404, a timeout, a refusal by robots.txt) are not exceptions but values:
`wayhound.fetched.Failed`.
"""

from __future__ import annotations


class WayhoundError(Exception):
    """The base of all our exceptions; the message is for the person at the keyboard.

    `next_step` is a command that helps, without the program's name: `train`. It is apart from the message because
    the studio and the API have other ways to do it.
    """

    exit_code = 1

    def __init__(self, message: str = "", *, next_step: str = "") -> None:
        super().__init__(message)
        self.next_step = next_step


class UsageError(WayhoundError):
    """The request cannot be carried out as it is."""

    exit_code = 2


class MissingExtra(UsageError):  # noqa: N818 - reads as what happened
    """A library that only an extra of the package installs is missing."""

    def __init__(self, feature: str, library: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs {library}, which is not installed. Run: pip install 'wayhound[{extra}]', or in a "
            f"checkout: pip install '.[{extra}]'"
        )


class NotInWorkspace(UsageError):  # noqa: N818 - reads as what happened
    """Nothing in the workspace has the number or name that was asked for."""


class ConfigError(UsageError):
    """`wayhound.toml` is not valid."""


class PageUnavailable(UsageError):  # noqa: N818 - reads as what happened
    """A page that was asked for by its address could not be fetched or read; `reason` is a reason code."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url} could not be read ({reason}).")
        self.url = url
        self.reason = reason


class PluginError(UsageError):
    """An installed plugin cannot be loaded, or fails; the message names it and its package."""


class WorkspaceError(WayhoundError):
    """The workspace folder cannot be used."""

    exit_code = 3


class WorkspaceLocked(WorkspaceError):  # noqa: N818 - reads as what happened
    """Another process holds the workspace's database."""


class LeaseLost(WorkspaceError):  # noqa: N818 - reads as what happened
    """The lease of a site has expired and another worker has taken it over: drop the site and lease another."""


class ArchiveError(WayhoundError):
    """A WARC file or site folder cannot be read or written."""

    exit_code = 4


class SegmentMissing(ArchiveError):  # noqa: N818 - reads as what happened
    """An archive file is neither here nor at the archive's location: not yet uploaded by another machine, or lost."""


class ArchiveUnavailable(WayhoundError):  # noqa: N818 - reads as what happened
    """The location of the archive does not answer, or refuses access. No ArchiveError: nothing is lost by it."""

    exit_code = 4


class ModelError(WayhoundError):
    """A model file is damaged, foreign or newer than this version."""

    exit_code = 5


class NotFitted(WayhoundError):  # noqa: N818 - the field's name for it
    """An estimator was used before `fit`."""


class TeachingError(WayhoundError):
    """The example trails cannot be learned from."""

    exit_code = 6
