"""The sign-in that `forge login` keeps for the command line (`clients/cli/login/contexts.ts`), for scripts of the same person."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Dict, Mapping, NamedTuple, Optional

from .config import ConfigError

_DEFAULT_HOST = "http://localhost:8080"
# The first segments of all paths that Forge serves, as in `schemas/own-paths.ts`.
_OWN_SEGMENTS = frozenset(
    ".well-known admin annotations api approvals assets benchmarks billing compare datasets deployments device diagnoses"
    " environments healthz hub-imports inference models notifications plans playground projects queue reflows rubrics"
    " runs search settings submit teams usage volumes".split()
)
_THIS_MACHINE = re.compile(r"^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|/|$)")


class SignIn(NamedTuple):
    host: str
    token: str  # a person's access token: never written down by this client


def contexts_path(env: Mapping[str, str]) -> str:
    base = env.get("XDG_CONFIG_HOME") or os.path.join(env.get("HOME") or os.path.expanduser("~"), ".config")
    return os.path.join(base, "forge", "contexts.json")


def current_sign_in(env: Mapping[str, str]) -> Optional[SignIn]:
    """FORGE_HOST and FORGE_TOKEN, or else the current context, as the command line selects them."""
    given = env.get("FORGE_HOST")
    if given:
        return sign_in_at(normal_host(given), env)
    contexts, current = _contexts(env)
    context = contexts.get(current or "")
    host = normal_host(str(context.get("host"))) if context else _DEFAULT_HOST
    token = env.get("FORGE_TOKEN") or (context or {}).get("token")
    return SignIn(host, str(token)) if token else None


def sign_in_at(host: str, env: Mapping[str, str]) -> Optional[SignIn]:
    """A stored token is only ever sent to the host it came from."""
    given = env.get("FORGE_HOST")
    if env.get("FORGE_TOKEN") and (not given or normal_host(given) == host):
        return SignIn(host, env["FORGE_TOKEN"])
    contexts, current = _contexts(env)
    names = [current or "", *contexts]
    for context in (contexts.get(name) for name in names):
        if context and context.get("token") and normal_host(str(context.get("host"))) == host:
            return SignIn(host, str(context["token"]))
    return None


def normal_host(text: str) -> str:
    """`https://forge.example.com` for `forge.example.com/`; http for this machine. Keeps the path of a proxy, not that of a page."""
    scheme = "http" if _THIS_MACHINE.match(text) else "https"
    address = text if re.match(r"^https?://", text) else "%s://%s" % (scheme, text)
    origin, path = "/".join(address.split("/")[:3]), "".join("/" + part for part in address.split("/")[3:])
    segments = re.split("[?#]", path)[0].split("/")
    own = next((at for at, segment in enumerate(segments) if segment in _OWN_SEGMENTS), len(segments))
    return origin + "/".join(segments[:own]).rstrip("/")


def _contexts(env: Mapping[str, str]) -> Any:
    path = contexts_path(env)
    try:
        with open(path, encoding="utf-8") as file:
            stored = json.load(file)
        contexts: Dict[str, Dict[str, Any]] = dict(stored.get("contexts") or {})
        return contexts, stored.get("current")
    except (FileNotFoundError, NotADirectoryError):  # a home such as /dev/null
        return {}, None
    except (OSError, ValueError, AttributeError) as error:
        raise ConfigError("%s cannot be read (%s); sign in again with `forge login`" % (path, error)) from error
