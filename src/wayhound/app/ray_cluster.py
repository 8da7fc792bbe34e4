"""Connect to a Ray cluster, or start one on this machine."""

from __future__ import annotations

import os
import socket
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wayhound import __version__
from wayhound.errors import MissingExtra, UsageError
from wayhound.workspace import Workspace

PROBE_SECONDS = 10.0
START_ATTEMPTS = 3

# No statistics are sent, no metrics kept. On a machine that is busy, Ray's own processes take longer to start than the
# 15 and 30 seconds that it grants them. One of its patiences cannot be set, and a process that fell to it is waited for
# as long as any other: a minute, and then all is started again.
_RAY_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_enable_metrics_collection": "0",
    "RAY_agent_register_timeout_ms": "300000",
    "RAY_raylet_start_wait_time_s": "60",
}


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """The cluster to use: `local` (one that is started here), `auto` (that of this machine) or ray://HOST:PORT."""

    address: str
    workers_per_node: int | None = None  # None: one per core

    @property
    def is_local(self) -> bool:
        return self.address == "local"


def check_cluster(workspace: Workspace, options: ClusterOptions) -> None:
    """Raise UsageError if a workspace cannot be used from several machines or nothing answers at the address of the
    cluster, MissingExtra without Ray.
    """
    load_ray()
    if options.is_local:
        return
    _probe(options.address)
    if not getattr(workspace.config, "database", ""):
        raise UsageError(
            "The database of this workspace is a file on this machine, which others cannot reach. Move the workspace "
            "to a Postgres server first (docs/cluster.md), or use --cluster local.",
            next_step="workspace move",
        )
    check_archive(workspace, options.address)


def check_archive(workspace: Workspace, cluster: str) -> None:
    """Raise UsageError if the machines of a cluster cannot reach the archive of a workspace."""
    if cluster != "local" and not workspace.config.archive:
        raise UsageError(
            'The archive of this workspace is a folder on this machine. Write archive = "s3://BUCKET/PREFIX", or a '
            "shared folder as file:///FOLDER, into wayhound.toml."
        )


def load_ray() -> Any:
    settings = _RAY_SETTINGS | ({"RAY_AUTH_MODE": "token"} if _has_token() else {})
    os.environ.update({name: os.environ.get(name, value) for name, value in settings.items()})
    try:
        import ray  # noqa: PLC0415 - half a second, and only where it was asked for
    except ImportError:
        raise MissingExtra("A cluster", "Ray", "cluster") from None
    return ray


def _has_token() -> bool:
    """Return True if this machine has the token of a cluster: the client of Ray 2.60 sends it only if it is told to."""
    named = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
    return (Path.home() / ".ray" / "auth_token").exists() or any(name in os.environ for name in named)


def connect(options: ClusterOptions) -> Any:
    """Connect to a cluster, or start one here, and return Ray. Raises UsageError if there is none, MissingExtra."""
    ray = load_ray()
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "namespace": "wayhound"}
    try:
        if options.is_local:
            _start_here(ray, quiet)
        else:
            _probe(options.address)
            with warnings.catch_warnings(action="ignore"):  # what went wrong is said below
                ray.init(address=options.address, **quiet)
    except (ConnectionError, TimeoutError, RuntimeError, ValueError) as error:
        raise _no_cluster(options.address, str(error)) from None
    return ray


def _probe(address: str) -> None:
    """Raise UsageError if nothing listens there: Ray itself would try for minutes."""
    named = os.environ.get("RAY_ADDRESS", "") if address == "auto" else address
    host, _, port = named.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return  # that of this machine, which Ray finds by its files
    try:
        socket.create_connection((host.strip("[]"), int(port)), PROBE_SECONDS).close()
    except OSError as error:
        raise _no_cluster(named, error.strerror or str(error)) from None


def _no_cluster(address: str, reason: str) -> UsageError:
    where = "this machine" if address == "auto" else address
    (line, *_) = reason.splitlines() or ["no answer"]
    return UsageError(
        f"No Ray cluster answers at {where} ({line.partition('. ')[0][:160].rstrip('.')}). Start one with `ray start "
        "--head` and `ray start --address=HOST:6379` on the other machines (docs/cluster.md), or use --cluster local. "
        "If it runs, check that this machine has its token (~/.ray/auth_token)."
    )


def _start_here(ray: Any, quiet: dict[str, Any]) -> None:
    """Start a cluster here. On a busy machine Ray's own processes may outlast its patience: then it is tried again."""
    for attempt in range(START_ATTEMPTS):
        try:
            ray.init(address="local", include_dashboard=False, **quiet)
        except Exception as error:
            ray.shutdown()
            if attempt == START_ATTEMPTS - 1:
                raise RuntimeError(str(error)) from error
        else:
            return


def check_version(version: str) -> None:
    """Raise UsageError if a command of another version has sent work to this machine."""
    if version != __version__:
        raise UsageError(
            f"{socket.gethostname()} has Wayhound {__version__}, and the command {version}. Install the same version "
            "on all machines."
        )
