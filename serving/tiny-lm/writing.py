"""Writes responses letter by letter, in the shapes of the OpenAI API."""

import time
import uuid
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional

import numpy as np
from asked import Wanted

ASK_EVERY = 16  # letters between two checks that the client is still connected


class Aborted(Exception):
    """Nobody is waiting for the response any longer."""


class Piece(NamedTuple):
    """A part of one choice; the last part has `finish`."""

    index: int
    text: str
    letters: int
    finish: Optional[str]


def pieces_of(model, wanted: Wanted, letters_per_s: Optional[float], is_gone: Callable[[], bool]) -> Iterator[Piece]:
    """Yields the choices one after the other. A text that may become a stop string is held back until that is clear."""
    begun, written = time.monotonic(), 0
    choices = [prompt for prompt in wanted.prompts for _ in range(wanted.n)]
    for index, prompt in enumerate(choices):
        rng = np.random.default_rng(None if wanted.seed is None else [wanted.seed % 2**64, index])
        kept, count, finish = "", 0, "length"
        for letter in model.letters_after(model.codes_of(prompt), wanted.temperature, wanted.top_p, rng):
            kept, count, written = kept + letter, count + 1, written + 1
            if letters_per_s is not None:
                time.sleep(max(0.0, begun + written / letters_per_s - time.monotonic()))
            if written % ASK_EVERY == 1 and is_gone():
                raise Aborted(written)
            stop = next((stop for stop in wanted.stops if kept.endswith(stop)), None)
            if stop is not None:
                kept, finish = kept[: -len(stop)], "stop"
            if stop is not None or count == wanted.max_tokens:
                break
            held = held_back(kept, wanted.stops)
            if held < len(kept):
                yield Piece(index, kept[: len(kept) - held], count, None)
                kept = kept[len(kept) - held :]
        yield Piece(index, kept, count, finish)


def held_back(text: str, stops: List[str]) -> int:
    """How many of the last letters may be the start of a stop string."""
    most = max((len(stop) - 1 for stop in stops), default=0)
    return next(
        (size for size in range(min(most, len(text)), 0, -1) if any(stop.startswith(text[-size:]) for stop in stops)), 0
    )


class Shape(NamedTuple):
    """The differences between the responses of chat and completions."""

    prefix: str
    whole: str
    chunk: str
    choice: Callable[[int, str, Optional[str]], Dict[str, Any]]
    part: Callable[[int, str, Optional[str], bool], Dict[str, Any]]


def _chat_part(index, text, finish, is_first):
    delta = {} if not is_first else {"role": "assistant", "content": ""}
    if text:
        delta["content"] = text
    return {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}


CHAT = Shape(
    "chatcmpl-",
    "chat.completion",
    "chat.completion.chunk",
    lambda index, text, finish: {
        "index": index,
        "message": {"role": "assistant", "content": text, "refusal": None},
        "logprobs": None,
        "finish_reason": finish,
    },
    _chat_part,
)
COMPLETION = Shape(
    "cmpl-",
    "text_completion",
    "text_completion",
    lambda index, text, finish: {"index": index, "text": text, "logprobs": None, "finish_reason": finish},
    lambda index, text, finish, _: {"index": index, "text": text, "logprobs": None, "finish_reason": finish},
)


def head_of(shape: Shape, kind: str, model: str) -> Dict[str, Any]:
    return {"id": shape.prefix + uuid.uuid4().hex, "object": kind, "created": int(time.time()), "model": model}


def usage_of(wanted: Wanted, written: int) -> Dict[str, int]:
    read = sum(len(prompt) for prompt in wanted.prompts)
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def whole_answer(shape: Shape, wanted: Wanted, pieces: Iterator[Piece]) -> Dict[str, Any]:
    texts: Dict[int, List[str]] = {}
    counts: Dict[int, int] = {}
    finishes: Dict[int, Optional[str]] = {}
    for piece in pieces:
        texts.setdefault(piece.index, []).append(piece.text)
        counts[piece.index], finishes[piece.index] = piece.letters, piece.finish
    choices = [shape.choice(index, "".join(texts[index]), finishes[index]) for index in sorted(texts)]
    usage = usage_of(wanted, sum(counts.values()))
    return dict(head_of(shape, shape.whole, wanted.model), choices=choices, usage=usage)


def chunks(shape: Shape, wanted: Wanted, pieces: Iterator[Piece]) -> Iterator[Dict[str, Any]]:
    """With `include_usage` every chunk has the field, and one more at the end has its value."""
    head = head_of(shape, shape.chunk, wanted.model)
    if wanted.include_usage:
        head["usage"] = None
    counts: Dict[int, int] = {}
    for piece in pieces:
        part = shape.part(piece.index, piece.text, piece.finish, piece.index not in counts)
        counts[piece.index] = piece.letters
        yield dict(head, choices=[part])
    if wanted.include_usage:
        yield dict(head, choices=[], usage=usage_of(wanted, sum(counts.values())))
