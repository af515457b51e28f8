"""The hyperparameters and the summary of a W&B run, and the numbers that it logs."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, Mapping, MutableMapping

from .config import ForgeError
from .run import Run as _Run
from .values import flatten, to_scalar
from .wandb_left_out import LeftOut

_SUMMARY = "summary/"


class Config(MutableMapping[str, Any]):
    """The hyperparameters, as items or attributes; assigned values are reported."""

    def __init__(self, run: _Run):
        object.__setattr__(self, "_run", run)
        object.__setattr__(self, "_values", {})

    def update(self, *params: Any, allow_val_change: Any = None, **named: Any) -> None:
        """Also takes an object with attributes, such as `argparse.Namespace`, and reports all at once."""
        given: Dict[str, Any] = dict(named)
        for one in params:
            given = {**(one if isinstance(one, Mapping) else vars(one)), **given}
        self._values.update(given)
        self._run.log_hparams(given)

    def setdefaults(self, params: Mapping[str, Any]) -> None:
        self.update({key: value for key, value in params.items() if key not in self._values})

    def as_dict(self) -> Dict[str, Any]:
        return dict(self._values)

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.update({key: value})

    def __delitem__(self, key: str) -> None:
        raise ForgeError("a hyperparameter that was reported cannot be taken back: %s" % key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_"):
            raise AttributeError(key)  # `copy` and `pickle` ask before anything is set
        try:
            return self._values[key]
        except KeyError:
            raise AttributeError("no hyperparameter %r was set" % key) from None

    def __setattr__(self, key: str, value: Any) -> None:
        self[key] = value

    def __repr__(self) -> str:
        return repr(self._values)


class Summary(MutableMapping[str, Any]):
    """The last value of each metric, and values set here: numbers as metrics `summary/…`, others as hyperparameters."""

    def __init__(self, report: Callable[[Mapping[str, Any]], None]):
        self._report = report
        self._last: Dict[str, Any] = {}

    def seen(self, values: Mapping[str, Any]) -> None:
        """Keeps no tensors or pictures, which would fill the memory."""
        self._last.update({key: value for key, value in values.items() if isinstance(value, (int, float, str))})

    def update(self, *params: Any, **named: Any) -> None:
        given = dict(*params, **named)
        self.seen(numbers_of(given))
        self._report({_SUMMARY + key: value for key, value in given.items()})

    def __getitem__(self, key: str) -> Any:
        return self._last[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.update({key: value})

    def __delitem__(self, key: str) -> None:
        del self._last[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._last)

    def __len__(self) -> int:
        return len(self._last)

    def __repr__(self) -> str:
        return repr(self._last)


def numbers_of(values: Mapping[str, Any]) -> Dict[str, Any]:
    """With dotted names, and numbers where the values can be read as such: to W&B a bool is a number."""
    found = {}
    for key, value in flatten(values):
        if isinstance(value, LeftOut):
            continue  # a warning has named it
        try:
            found[key] = int(value) if isinstance(value, bool) else to_scalar(value)
        except Exception:
            found[key] = value
    return found
