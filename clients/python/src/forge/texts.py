"""Makes texts storable: the service accepts no U+0000, and no half of a surrogate pair.

Python has the latter wherever the bytes of a file name or an argument are not UTF-8 (`os.fsdecode`).
"""

from __future__ import annotations

import json
import re
from typing import Any, List, Tuple

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")

# These characters as `json.dumps` writes them, unless they are a pair, which is one valid character. Also matches some escaped
# backslashes.
_WRITTEN = re.compile(
    r"\\u0000|\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f]"
)

_OF_DIRECTION = frozenset([0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)])


def storable(text: str) -> str:
    return _UNSTORABLE.sub("\ufffd", text)


def storable_json(text: str) -> Tuple[str, List[str]]:
    """The same JSON, as `json.dumps` wrote it, with U+FFFD for such characters, and the dotted names of their places."""
    if not _WRITTEN.search(text):
        return text, []
    places: List[str] = []
    value = _storable(json.loads(text), "", places)
    return (json.dumps(value), places) if places else (text, [])


def _storable(value: Any, place: str, places: List[str]) -> Any:
    if isinstance(value, str):
        return _noting(value, place, places)
    if isinstance(value, list):
        return [_storable(item, "%s.%d" % (place, at), places) for at, item in enumerate(value)]
    if isinstance(value, dict):
        named = [(_noting(key, place, places), item) for key, item in value.items()]
        return {key: _storable(item, "%s.%s" % (place, key), places) for key, item in named}
    return value


def _noting(text: str, place: str, places: List[str]) -> str:
    cleaned = storable(text)
    if cleaned != text:
        places.append(place.lstrip("."))
    return cleaned


def printable_name(text: str, most: int) -> str:
    """As the service accepts the names of runs and tags: cut, with U+FFFD for what a name may not contain."""
    return "".join("\ufffd" if is_unprintable(char) else char for char in text[:most])


def is_unprintable(char: str) -> bool:
    """Controls, marks of direction, and halves of a pair."""
    code = ord(char)
    return code < 32 or 127 <= code < 160 or 0xD800 <= code <= 0xDFFF or code in _OF_DIRECTION
