"""Converts the values of training code to the scalars that the service accepts."""

from __future__ import annotations

import math
import operator
from typing import Any, Dict, Iterator, List, Mapping, Tuple, Union

Scalar = Union[float, int]

# Far above any sane nesting; stops a dictionary that contains itself.
_MAX_DEPTH = 32

HPARAM_TEXT_LIMIT = 6000
# A longer name is cut, because the service would refuse all hyperparameters of the call.
HPARAM_NAME_LIMIT = 250

# As many as the service accepts.
HPARAMS_LIMIT = 2000

# The service refuses them.
_REFUSED_NAMES = frozenset({"", "__proto__"})

# As many names as a run may have; a dictionary that contains itself twice has more paths than there are atoms.
MAX_NAMES = 100_000

# The range that JSON keeps exactly, and the service accepts.
MAX_STEP = 2**53 - 1


def scalars(values: Mapping[Any, Any]) -> Tuple[List[Tuple[str, Scalar]], List[str]]:
    """Returns dotted `(key, number)` pairs in the given order, and a complaint for each value left out."""
    if not isinstance(values, Mapping):
        raise TypeError('needs names and numbers, as in {"loss": 0.3}, not %s' % _shown(values))
    kept: List[Tuple[str, Scalar]] = []
    complaints: List[str] = []
    for key, value in flatten(values):
        try:
            kept.append((key, to_scalar(value)))
        except (TypeError, ValueError) as error:
            complaints.append("%s: %s" % (key, error))
    return kept, complaints


def flatten(values: Mapping[Any, Any]) -> Iterator[Tuple[str, Any]]:
    """`{"a": {"b": 1}}` as `("a.b", 1)`."""
    for count, pair in enumerate(_flatten(values, "", 0)):
        if count == MAX_NAMES:
            raise ValueError("more than %s names" % format(MAX_NAMES, ","))
        yield pair


def _flatten(values: Mapping[Any, Any], prefix: str, depth: int) -> Iterator[Tuple[str, Any]]:
    for key, value in values.items():
        name = prefix + str(key)
        if isinstance(value, Mapping) and depth < _MAX_DEPTH:
            yield from _flatten(value, name + ".", depth + 1)
        else:
            yield name, value


def to_scalar(value: Any) -> Scalar:
    """One number; NaN and infinities pass. Refuses values with several elements, which only the caller can reduce."""
    if isinstance(value, bool):
        raise TypeError("a bool is not a metric; log 0 or 1 if a number is meant")
    if isinstance(value, float):
        return float(value)  # also converts subclasses such as numpy.float64, whose repr is not JSON
    if isinstance(value, int):
        return int(value)
    if isinstance(value, (str, bytes)) or value is None:
        raise TypeError("%s is not a number" % type(value).__name__)
    if hasattr(value, "item"):
        return _single_item(value)
    if hasattr(value, "__float__"):
        return float(value)
    raise TypeError("%s is not a number" % type(value).__name__)


def _single_item(value: Any) -> Scalar:
    size = _size(value)
    if size is not None and size != 1:
        raise TypeError("%d values under one key; log its mean, or one key for each" % size)
    if _is_masked(value):
        raise TypeError("the value is masked")
    item = value.item()
    if type(item) is float or type(item) is int:
        return item
    if isinstance(item, bool) or not hasattr(item, "__float__"):
        raise TypeError("holds %s, which is not a number" % type(item).__name__)
    return float(item)  # such as numpy.longdouble, which has no counterpart in Python


def _is_masked(value: Any) -> bool:
    """NumPy's masked arrays have a number under the mask, usually 0, that means nothing. A `mask` elsewhere is a method."""
    mask = getattr(value, "mask", None)
    return mask is not None and not callable(mask) and bool(mask)


def _size(value: Any) -> Union[int, None]:
    """Number of elements of a tensor (`numel()`) or an array (`size`), which have no common name for it."""
    if hasattr(value, "numel"):
        return int(value.numel())
    size = getattr(value, "size", None)
    return size if isinstance(size, int) else None


def to_step(step: Any) -> int:
    """An integer step; a float is accepted if it is whole."""
    if isinstance(step, bool):
        raise TypeError("a bool is not a step")
    if isinstance(step, float):
        if not step.is_integer():
            raise ValueError("step %r is not whole" % step)
        return to_step(int(step))
    if hasattr(step, "item") and not hasattr(step, "__index__"):
        return to_step(step.item())
    try:
        whole = operator.index(step)
    except TypeError:
        raise TypeError("a step is a whole number, not %s" % _shown(step)) from None
    if not -MAX_STEP <= whole <= MAX_STEP:
        raise ValueError("a step must lie within 2**53 of 0")
    return whole


def hparams(params: Any) -> Tuple[Dict[str, Any], List[str]]:
    """A flat dictionary of texts, numbers, booleans and nulls, and a complaint for each value left out.

    Other values are converted to text.
    """
    if not isinstance(params, Mapping):
        if not hasattr(params, "__dict__"):
            raise TypeError('needs names and values, as in {"lr": 0.1}, not %s' % _shown(params))
        params = vars(params)  # argparse.Namespace, dataclasses, SimpleNamespace
    kept: Dict[str, Any] = {}
    complaints: List[str] = []
    for key, value in flatten(params):
        name = key[:HPARAM_NAME_LIMIT]
        try:
            if name in _REFUSED_NAMES:
                raise ValueError("not the name of a hyperparameter")
            if name not in kept and len(kept) == HPARAMS_LIMIT:
                raise ValueError("more than %s hyperparameters" % format(HPARAMS_LIMIT, ","))
            kept[name] = _hparam(value)
        except Exception as error:  # of `str(value)`
            complaints.append("%s: %s" % (ascii(name), error))
    return kept, complaints


def _hparam(value: Any) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value[:HPARAM_TEXT_LIMIT] if isinstance(value, str) else value
    try:
        number = to_scalar(value)
    except (TypeError, ValueError):
        found = value.item() if hasattr(value, "item") and _size(value) in (None, 1) else None
        return found if isinstance(found, bool) else str(value)[:HPARAM_TEXT_LIMIT]
    if is_finite(number):
        return number
    return str(number)[:HPARAM_TEXT_LIMIT] if isinstance(number, int) else nonfinite(number)


def _shown(value: Any) -> str:
    text = repr(value)
    return "%s (%s)" % (text if len(text) <= 40 else text[:37] + "...", type(value).__name__)


def is_finite(number: Scalar) -> bool:
    """False for an integer beyond the range of a double, too: the service would read it as infinity."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def nonfinite(number: Scalar) -> str:
    """JSON has no NaN and infinities: the service accepts these three words instead."""
    if number != number:
        return "NaN"
    return "Infinity" if number > 0 else "-Infinity"
