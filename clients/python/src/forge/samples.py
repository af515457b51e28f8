"""Validation samples as JSON, in pieces that the service accepts (specification "Ingest", validation)."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Tuple

from .values import is_finite, nonfinite, to_scalar, to_step

# The service accepts 500 samples and 10 MB a call.
SAMPLES_PER_REQUEST = 500
SAMPLE_BYTES_PER_REQUEST = 8_000_000

_FIELDS = frozenset("user assistant env reward extra sample_key".split())


def sample_rounds(
    step: Any, samples: Iterable[Mapping[str, Any]], avg_reward: Any, accuracy: Any
) -> Iterator[Tuple[Dict[str, Any], List[str]]]:
    """The requests of one validation round, and the samples that each carries."""
    pieces = sample_pieces(samples)
    round_part = {"step": to_step(step), "avg_reward": number_or_none(avg_reward), "accuracy": number_or_none(accuracy)}
    for index, piece in enumerate(pieces):
        yield {**round_part, "chunk_index": index, "total_chunks": len(pieces)}, piece


def sample_pieces(samples: Iterable[Mapping[str, Any]]) -> List[List[str]]:
    """Samples as JSON texts, cut where a request would become too large. No samples: one empty piece."""
    pieces: List[List[str]] = [[]]
    size = 0
    for sample in samples:
        text = json.dumps(_json_safe(_with_extra(sample)), default=str)
        if pieces[-1] and (len(pieces[-1]) == SAMPLES_PER_REQUEST or size + len(text) > SAMPLE_BYTES_PER_REQUEST):
            pieces.append([])
            size = 0
        pieces[-1].append(text)
        size += len(text)
    return pieces


def _with_extra(sample: Any) -> Any:
    """Fields that the service does not know become part of `extra`."""
    others = {key: value for key, value in sample.items() if key not in _FIELDS} if isinstance(sample, Mapping) else {}
    if not others:
        return sample
    extra = sample.get("extra")
    known = {key: value for key, value in sample.items() if key in _FIELDS}
    return {**known, "extra": {**others, **(extra if isinstance(extra, Mapping) else {} if extra is None else {"extra": extra})}}


def number_or_none(value: Any) -> Any:
    """A reward or an accuracy, if given."""
    return None if value is None else _json_safe(to_scalar(value))


def _json_safe(value: Any) -> Any:
    """Tensors of one element as numbers, and non-finite numbers as the words that JSON uses for them here."""
    if isinstance(value, Mapping):
        return {str(key): _json_safe(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_safe(inner) for inner in value]
    if value is None or isinstance(value, (str, bool)):
        return value
    try:
        number = to_scalar(value)
    except (TypeError, ValueError):
        return str(value)
    return number if is_finite(number) else nonfinite(number)
