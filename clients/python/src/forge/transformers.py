"""Reports the progress of a Hugging Face `Trainer`.

    from forge.transformers import ForgeCallback

    trainer = Trainer(model, args, train_dataset=data, callbacks=[ForgeCallback()])
    trainer.train(resume_from_checkpoint=forge.resume_from())

Needs the package `transformers`, which nothing else here does.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, Iterable, Mapping, Optional

from transformers import TrainerCallback

from . import init
from .checkpoints import register
from .config import rank_of
from .run import Run

_GO_ON, _STOP, _SAVE_AND_STOP = 0, 1, 2
_WISHES = {"exit": _STOP, "checkpoint_and_exit": _SAVE_AND_STOP}

# As long as the label list of the data set, and not parameters.
_TABLES_OF_LABELS = frozenset({"id2label", "label2id"})


class ForgeCallback(TrainerCallback):
    """Logs the losses and metrics of a `Trainer`, its arguments and those of its model; registers its checkpoints; and
    ends training after a checkpoint when the platform asks for that.

    project, name, tags  as for `forge.init`, which the start of training calls; an active run is used instead
    artifacts            registers each checkpoint, so that a paused job continues from it
    strict               as for `forge.init`; also a checkpoint that is not registered raises

    In distributed training every process needs it: they agree after each step whether to end.

    The run does not end with `trainer.train()`, since `trainer.evaluate()` may follow, but with the process or
    `forge.finish()`.
    """

    def __init__(
        self,
        *,
        project: Optional[str] = None,
        name: Optional[str] = None,
        tags: Iterable[str] = (),
        artifacts: bool = True,
        strict: bool = False,
    ):
        self._wanted: Dict[str, Any] = {"project": project, "name": name, "tags": tuple(tags), "strict": strict}
        self._artifacts = artifacts
        self._run: Optional[Run] = None

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        run = self._run_of(state)
        if run is not None:
            run.log_hparams(params_of(args, model))

    def on_log(self, args: Any, state: Any, control: Any, logs: Optional[Mapping[str, Any]] = None, **_: Any) -> None:
        run = self._run_of(state)  # `trainer.evaluate()` logs without a start of training
        if run is not None and logs:
            run.log(renamed(logs), state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
        action = "none" if self._run is None else self._run.control["action"]
        wish = _of_rank_0(_WISHES.get(action, _GO_ON), args)
        if wish != _GO_ON:
            control.should_training_stop = True
        if wish == _SAVE_AND_STOP:
            control.should_save = True
        return control

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        path = os.path.join(args.output_dir, "checkpoint-%d" % state.global_step)
        if self._run is None or not self._artifacts or not os.path.isdir(path):
            return
        register(self._run, path, "transformers", state.global_step, strict=self._wanted["strict"])

    def _run_of(self, state: Any) -> Optional[Run]:
        # A process that is not the first but appears to be rank 0 does not report: its reports would pass for the first one's.
        if self._run is None and (state.is_world_process_zero or rank_of(os.environ) != 0):
            self._run = init(**self._wanted)
        return self._run


def params_of(args: Any, model: Any) -> Dict[str, Any]:
    """Arguments by their own names (`learning_rate`), the model's as `model.hidden_size`."""
    params = dict(args.to_dict())  # which masks tokens
    config = getattr(model, "config", None)
    if hasattr(config, "to_dict"):
        params["model"] = {key: value for key, value in config.to_dict().items() if key not in _TABLES_OF_LABELS}
    return params


def renamed(logs: Mapping[str, Any]) -> Dict[str, Any]:
    """`loss` as `train/loss` and `eval_loss` as `eval/loss`, the names in other trackers' integrations."""
    found = {}
    for key, value in logs.items():
        group, _, rest = key.partition("_")
        found["%s/%s" % (group, rest) if group in ("eval", "test") and rest else "train/" + key] = value
    return found


def _of_rank_0(wish: int, args: Any) -> int:
    """Only rank 0 receives the platform's request, and all must leave the loop at the same step: the others would wait for it."""
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if torch is None or distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return wish
    agreed = torch.tensor([wish], device=args.device)
    distributed.broadcast(agreed, src=0)
    return int(agreed.item())
