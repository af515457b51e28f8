"""Reads the settings of reporting from the environment (specification "Ingest", environment variables)."""

from __future__ import annotations

import os
import re
import stat
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Set, Tuple
from urllib.parse import urlsplit

from .address import UNCLAIMED, Address, Claim, Note
from .notices import say


# About 700,000 points.
_SPOOL_MB = 64


class ForgeError(Exception):
    """Raised by the few calls that may raise: `init` without a clear configuration, `log_artifact` when the service
    refuses the artifact, and everything with `strict=True`."""

    def __init__(self, message: str, status: Optional[int] = None):
        super().__init__(message)
        self.status = status  # of the service's response, if there was one


class ConfigError(ForgeError):
    """The environment does not say clearly whether to report, and where."""


class Config(NamedTuple):
    """Where the reports of this process go."""

    endpoint: str  # without a trailing slash
    run_id: str  # a local one until the run exists
    token: str
    attempt: Optional[int]
    rank: int
    local_rank: int
    claim: Optional[Claim] = None
    owns_run: bool = False  # this process creates the run and reports its end

    @property
    def address(self) -> Optional[Address]:
        """`None`: the run is still to be created."""
        return None if self.token == UNCLAIMED else Address(self.endpoint, self.run_id, self.token)

    def note(self, address: Optional[Address]) -> Optional[Note]:
        """The data to keep with unsent reports; `None` if another process keeps it."""
        if address is None and self.claim is None:
            return None
        return Note(address or Address(self.endpoint, self.run_id, self.token), self.run_id, self.claim)


def read_config(env: Mapping[str, str]) -> Optional[Config]:
    """`None` when reporting is deliberately off (`SERVICE_ENABLED=0`)."""
    enabled = env.get("SERVICE_ENABLED")
    if enabled == "0":
        return None
    if enabled != "1":
        shown = "not set" if enabled is None else repr(enabled)
        raise ConfigError(
            "SERVICE_ENABLED is %s: it must be '1' (report) or '0' (deliberately offline). `forge run -- python …` "
            "sets it; without that, forge.init(project=…) creates a run" % shown
        )
    names = ("SERVICE_ENDPOINT", "SERVICE_RUN_ID", "SERVICE_TOKEN")
    missing = [name for name in names if not env.get(name, "").strip()]
    if missing:
        raise ConfigError("SERVICE_ENABLED is '1' but %s missing" % _are(missing))
    endpoint = env["SERVICE_ENDPOINT"].strip().rstrip("/")
    if not _is_http_url(endpoint):
        raise ConfigError("SERVICE_ENDPOINT must be an http(s) URL, not %r" % endpoint)
    if not re.match(r"^[!-~]+$", env["SERVICE_TOKEN"].strip()):
        raise ConfigError("SERVICE_TOKEN contains characters that no token has; was it copied correctly?")
    return Config(
        endpoint=endpoint,
        run_id=env["SERVICE_RUN_ID"].strip(),
        token=env["SERVICE_TOKEN"].strip(),
        attempt=_integer(env, "FORGE_ATTEMPT"),
        rank=rank_of(env),
        local_rank=_first_integer(
            env, ("LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK")
        ),
    )


def config_of(env: Mapping[str, str], wanted: Optional[Mapping[str, Any]]) -> Optional[Config]:
    """The destination in the environment, or else a new run if one is `wanted`: the body of POST /api/runs."""
    if wanted is None or "SERVICE_ENABLED" in env:
        return read_config(env)
    if rank_of(env) != 0:
        return None  # every process of a distributed run calls the same code; they are one run
    from .claim import begin_run  # loaded when needed, so that `import forge` is cheap

    return begin_run(wanted, env)


def output_is_collected(env: Mapping[str, str]) -> bool:
    """Whether another process sends this one's output: the executor of a job, or `forge run`."""
    return "FORGE_ATTEMPT" in env or env.get("FORGE_OUTPUT_COLLECTED") == "1"


def asked_for(env: Mapping[str, str], wanted: Mapping[str, Any]) -> Dict[str, Any]:
    """The arguments of `init` that identify the intended run."""
    asked = dict(wanted)
    if env.get("SERVICE_ENABLED") == "1":
        asked["run_id"] = env.get("SERVICE_RUN_ID", "").strip()
    return {name: value for name, value in asked.items() if value}


def in_words(asked: Mapping[str, Any], leave_out: str = "") -> str:
    return " ".join("%s=%r" % named for named in asked.items() if named[0] != leave_out)


def spool_root(env: Mapping[str, str]) -> str:
    """The directory that keeps unsent reports, one folder per run."""
    chosen = env.get("FORGE_SPOOL_DIR")
    if chosen:
        return os.path.abspath(os.path.expanduser(chosen))
    # Absolute even without a home to expand `~` to, since the program may change its folder.
    usual = os.path.abspath(os.path.join(os.path.expanduser("~"), ".forge", "spool"))
    if _can_hold(usual):
        return usual
    temporary = _temporary_root()
    if temporary is None:
        return usual
    if temporary not in _warned:
        _warned.add(temporary)
        say("forge: warning: %s cannot be used; unsent reports wait in %s (FORGE_SPOOL_DIR selects another)" % (usual, temporary))
    return temporary


_warned: Set[str] = set()


def _can_hold(path: str) -> bool:
    """Whether the folder, or the nearest one above that exists, lets us write. A container may have somebody else's home."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode) and os.access(path, os.W_OK | os.X_OK)
    except FileNotFoundError:
        above = os.path.dirname(path)
        return above != path and _can_hold(above)
    except OSError:
        return False


def _temporary_root() -> Optional[str]:
    """Only if it is ours: reports carry a token, and anybody may write to the folder above."""
    import tempfile  # loaded when needed, so that `import forge` is cheap

    try:
        owner = os.getuid() if hasattr(os, "getuid") else 0
        path = os.path.join(tempfile.gettempdir(), "forge-spool-%d" % owner)
        os.makedirs(path, mode=0o700, exist_ok=True)
        found = os.lstat(path)
        ours = stat.S_ISDIR(found.st_mode) and found.st_uid == owner and not stat.S_IMODE(found.st_mode) & 0o077
        return path if ours or os.name == "nt" else None
    except OSError:
        return None


def spool_bytes(env: Mapping[str, str]) -> int:
    """How much disk space one process may use there."""
    return max(1, _integer(env, "FORGE_SPOOL_MB") or _SPOOL_MB) * 1024 * 1024


def _is_http_url(text: str) -> bool:
    try:
        url = urlsplit(text)
        url.port  # raises if it is not a number
    except ValueError:
        return False
    return url.scheme in ("http", "https") and bool(url.hostname) and not re.search(r"\s", text)


def _are(names: List[str]) -> str:
    return "%s %s" % (" and ".join(names), "is" if len(names) == 1 else "are")


def _integer(env: Mapping[str, str], name: str) -> Optional[int]:
    try:
        return int(env[name])
    except (KeyError, ValueError):
        return None


def rank_of(env: Mapping[str, str]) -> int:
    names = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK")
    if any(_integer(env, name) is not None for name in names):
        return _first_integer(env, names)
    # The only variable that Lightning passes to its processes: enough to distinguish rank 0 from the others.
    node, nodes_most = _first_integer(env, ("NODE_RANK",)), _first_integer(env, ("WORLD_SIZE",))
    return node * max(1, nodes_most) + _first_integer(env, ("LOCAL_RANK",))


def _first_integer(env: Mapping[str, str], names: Tuple[str, ...]) -> int:
    for name in names:
        value = _integer(env, name)
        if value is not None:
            return value
    return 0
