"""RL environments: loading them in a run, and running rollouts with a model.

The platform runs `python -m forge.rollouts` when an environment is published (`FORGE_ROLLOUTS` says what to do), and
`forge env test` runs it on one's own machine.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import sys
import time
from types import SimpleNamespace
from typing import Any, Callable, Dict, List, Mapping, Optional

_TIMEOUT_S = 300.0


class Client:
    """A client of an OpenAI-compatible server, with the part of OpenAI's own that most rollouts need.

    `client.chat.completions.create(messages=[...])` and `client.completions.create(prompt=...)` take the parameters of the
    API, and return its answer with attributes instead of keys; `model` is filled in. Code that needs more creates
    another client with `base_url`, `api_key` and `model`.
    """

    def __init__(self, base_url: str, api_key: str, model: str) -> None:
        self.base_url = base_url.rstrip("/")
        self.api_key = api_key
        self.model = model
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self._at("/chat/completions")))
        self.completions = SimpleNamespace(create=self._at("/completions"))

    def _at(self, path: str) -> Callable[..., Any]:
        def create(**parameters: Any) -> Any:
            return _attributes(self._post(path, {"model": self.model, **parameters}))

        return create

    def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        from urllib.error import HTTPError
        from urllib.request import Request, urlopen

        headers = {"content-type": "application/json", "authorization": "Bearer " + self.api_key}
        request = Request(self.base_url + path, json.dumps(body).encode(), headers)
        try:
            with urlopen(request, timeout=_TIMEOUT_S) as response:
                return json.load(response)
        except HTTPError as error:
            said = error.read(2000).decode("utf-8", "replace")
            raise RuntimeError("%s responded with %d: %s" % (path, error.code, said)) from None


def _attributes(value: Any) -> Any:
    if isinstance(value, list):
        return [_attributes(one) for one in value]
    if isinstance(value, dict):
        return SimpleNamespace(**{key: _attributes(one) for key, one in value.items()})
    return value


class Environment:
    """An RL environment that a run uses.

    ref, digest  the version, as the job names it
    path         the folder of its files, which is read-only
    weight       its share among the environments of the job
    args         the arguments of its rollouts
    """

    def __init__(self, ref: str, described: Mapping[str, Any]) -> None:
        self.ref = ref
        self.digest: Optional[str] = described.get("digest")
        self.path: str = described["path"]
        self.weight: float = described.get("weight", 1.0)
        self.args: Dict[str, Any] = dict(described.get("args") or {})
        self._entry: str = described["entry"]
        self._packages: Optional[str] = described.get("packages")
        self._function: Optional[Callable[..., Any]] = None

    def load(self) -> Callable[..., Any]:
        """Its function `rollout(client, args)`. Modules of its folder, and then its packages, can be imported from now on."""
        if self._function is None:
            for folder in (self.path, self._packages):
                if folder and folder not in sys.path:
                    sys.path.append(folder)
            module, _, name = self._entry.partition(":")
            loaded = importlib.import_module(module)
            file = os.path.realpath(loaded.__file__ or "")
            if not file.startswith(os.path.realpath(self.path) + os.sep):
                raise ImportError("there is another module %s (%s); give the environment's another name" % (module, file))
            found = getattr(loaded, name, None)
            if not callable(found):
                raise TypeError("%s is not a function" % self._entry)
            self._function = found
        return self._function

    def rollout(self, client: Any, args: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
        """Runs one rollout; returns its result as a dictionary with the number `reward`."""
        result = self.load()(client, {**self.args, **(args or {})})
        if hasattr(result, "__await__"):
            import asyncio

            result = asyncio.run(_awaited(result))
        return _checked(result)

    def __repr__(self) -> str:
        return "Environment(%r)" % self.ref


async def _awaited(result: Any) -> Any:
    return await result


def _checked(result: Any) -> Dict[str, Any]:
    found = dict(result) if isinstance(result, Mapping) else {"reward": result}
    try:
        reward = math.nan if isinstance(found.get("reward"), (bool, str)) else float(found["reward"])
    except (KeyError, TypeError, ValueError):
        reward = math.nan
    if not math.isfinite(reward):
        raise ValueError("rollout returned %.200r; expected a finite number, or a dictionary with one as `reward`" % (result,))
    return {**found, "reward": reward}


def environments(env: Mapping[str, str] = os.environ) -> List[Environment]:
    """The RL environments of the job, in the order of its spec; outside a job there are none."""
    described = json.loads(env.get("FORGE_ENVIRONMENTS") or "{}")
    return [Environment(ref, one) for ref, one in described.items()]


def _main() -> int:
    # Results have a separate channel: all that the environment prints is its log.
    results = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    order = json.loads(os.environ["FORGE_ROLLOUTS"])

    def report(**values: Any) -> None:
        results.write(json.dumps(values) + "\n")
        results.flush()

    environment = Environment("", order)
    try:
        environment.load()
    except BaseException as error:
        import traceback

        traceback.print_exc()
        report(event="failed", error="%s: %s" % (type(error).__name__, error))
        return 0
    report(event="loaded")
    if not order["count"]:
        print("%s was loaded; without a deployment there are no rollouts" % order["entry"], file=sys.stderr)
        return 0
    client = Client(os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"], order["model"])
    for number in range(order["count"]):
        report(event="rollout", **_one(environment, client, number + 1))
    return 0


def _one(environment: Environment, client: Client, number: int) -> Dict[str, Any]:
    began = time.monotonic()
    reward, fault = None, None
    try:
        reward = environment.rollout(client)["reward"]
        print("rollout %d: reward %g" % (number, reward), file=sys.stderr)
    except Exception as error:
        import traceback

        traceback.print_exc()
        fault = "%s: %s" % (type(error).__name__, error)
    return {"reward": reward, "error": fault, "duration_s": round(time.monotonic() - began, 3)}


if __name__ == "__main__":
    sys.exit(_main())
