"""Scores that a judge has already given by a rubric (docs/use/validation.md), so that the same sample is judged once."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, Optional, Tuple

from .config import ForgeError
from .notices import say
from .transport import Transport, Unreachable

if TYPE_CHECKING:
    from .address import Address

# Most samples in one call to the service.
_AT_ONCE = 500

# A judge takes longer than this; an unresponsive service is not awaited again.
_TIMEOUT_S = 5.0

Judge = Callable[[List[Any]], Iterable[Any]]


def digest_of(sample: Any) -> str:
    """The UTF-8 bytes of a text, or anything else as JSON with sorted keys and without spaces."""
    if not isinstance(sample, str):
        sample = json.dumps(sample, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(sample.encode("utf-8", "surrogatepass")).hexdigest()


def cached(address: Optional[Address], rubric: str, judge: str, samples: Iterable[Any], score: Judge) -> List[float]:
    """The score of each sample; `score` is called with the samples unknown to the service, each once."""
    given = list(samples)
    digests = [digest_of(sample) for sample in given]
    cache = _Cache(address, rubric, judge)
    try:
        known: Dict[str, float] = {}
        unique = dict(zip(digests, given))
        for some in _cut(list(unique)):
            known.update(cache.find(some))
        missing = [digest for digest in unique if digest not in known]
        if missing:
            judged = [_parts(one) for one in score([unique[digest] for digest in missing])]
            if len(judged) != len(missing):
                raise ForgeError("the judge gave %d scores for %d samples" % (len(judged), len(missing)))
            known.update((digest, value) for digest, (value, _) in zip(missing, judged))
            for batch in _cut(list(zip(missing, judged))):
                cache.keep(batch)
        return [known[digest] for digest in digests]
    finally:
        cache.close()


def _cut(items: List[Any]) -> Iterable[List[Any]]:
    return (items[start : start + _AT_ONCE] for start in range(0, len(items), _AT_ONCE))


def _parts(judged: Any) -> Tuple[float, Mapping[str, float]]:
    """A score, or a score with the scores of the criteria."""
    if isinstance(judged, tuple):
        value, criteria = judged
        return float(value), {str(name): float(each) for name, each in criteria.items()}
    return float(judged), {}


class _Cache:
    """Without an address, and after the first failure, it knows and stores nothing."""

    def __init__(self, address: Optional[Address], rubric: str, judge: str):
        self._transport = address and Transport(address.endpoint, address.token, _TIMEOUT_S)
        # Any version may be named, as in a JobSpec; the service has scores of the current one only.
        self._of = {"run_id": address and address.run_id, "rubric": rubric.split("@")[0], "judge": judge}
        self._version = 0

    def find(self, digests: List[str]) -> Dict[str, float]:
        found = self._ask("rubric/scores/lookup", {"samples": digests})
        if found is None:
            return {}
        self._version = found["version"]
        return {one["sample"]: one["score"] for one in found["scores"]}

    def keep(self, judged: List[Tuple[str, Tuple[float, Mapping[str, float]]]]) -> None:
        scores = [{"sample": digest, "score": value, "criteria": criteria} for digest, (value, criteria) in judged]
        self._ask("rubric/scores", {"version": self._version, "scores": scores})

    def close(self) -> None:
        if self._transport:
            self._transport.close()

    def _ask(self, route: str, fields: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        if not self._transport:
            return None
        try:
            reply = self._transport.post(route, json.dumps({**self._of, **fields}).encode())
            if reply.status == 200:
                return json.loads(reply.body)
            why = "%d %s" % (reply.status, reply.body[:500].decode("utf-8", "replace"))
        except (Unreachable, ValueError) as error:
            why = str(error)
        say("forge: warning: scores of %s are judged again and not kept: %s" % (self._of["rubric"], why))
        self.close()
        self._transport = None
        return None
