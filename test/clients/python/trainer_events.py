"""Calls `ForgeCallback` as the `Trainer` of transformers 5.23.0 did in a training of 8 steps (16 samples, batches of 2,
`logging_steps=2`, `eval_steps=4`, `save_steps=4`), with the package itself replaced by its class of callbacks.

Its first argument is the `output_dir`. With `wait` as the second it trains until it is asked to end.
"""

import os
import sys
import time
import types


class TrainerCallback:
    """All events of the real class do nothing."""


EVENTS = (
    "init_end train_begin epoch_begin step_begin pre_optimizer_step optimizer_step substep_end step_end log "
    "prediction_step evaluate predict save push_begin epoch_end train_end"
).split()
for event in EVENTS:
    setattr(TrainerCallback, "on_" + event, lambda self, args, state, control, **kwargs: None)
stand_in = types.ModuleType("transformers")
stand_in.TrainerCallback = TrainerCallback
sys.modules["transformers"] = stand_in

from forge.transformers import ForgeCallback  # noqa: E402


class Arguments:
    def __init__(self, output_dir):
        self.output_dir = output_dir
        self.device = "cpu"

    def to_dict(self):
        return {"learning_rate": 0.001, "output_dir": self.output_dir, "hub_token": "<HUB_TOKEN>", "report_to": []}


class Config:
    def to_dict(self):
        return {"hidden_size": 3, "id2label": {"0": "LABEL_0"}}


args = Arguments(sys.argv[1])
state = types.SimpleNamespace(global_step=0, is_world_process_zero=True, is_local_process_zero=True)
control = types.SimpleNamespace(should_training_stop=False, should_save=False, should_log=False, should_evaluate=False)
model = types.SimpleNamespace(config=Config())
callback = ForgeCallback()


def call(event, **more):
    # As `CallbackHandler.call_event` passes them.
    given = {"model": model, "processing_class": None, "optimizer": None, "lr_scheduler": None}
    result = getattr(callback, "on_" + event)(
        args, state, control, **given, train_dataloader=None, eval_dataloader=None, **more
    )
    assert result is None or result is control


def log(**logs):
    call("log", logs={**logs, "epoch": state.global_step / 8})


def evaluate():
    call("prediction_step")
    metrics = {"eval_loss": 0.5, "eval_samples_per_second": 60.5}
    log(**metrics)
    call("evaluate", metrics=metrics)


def save():
    os.makedirs(os.path.join(args.output_dir, "checkpoint-%d" % state.global_step))
    call("save")


def step():
    for event in ("step_begin", "pre_optimizer_step", "optimizer_step"):
        call(event)
    state.global_step += 1
    call("step_end")
    if state.global_step % 2 == 0:
        log(loss=1.0 / state.global_step, grad_norm=1.5, learning_rate=0.001)
    if state.global_step % 4 == 0 and len(sys.argv) < 3:
        evaluate()
        save()
    elif control.should_save:
        save()


call("init_end")
call("train_begin")
call("epoch_begin")
if len(sys.argv) < 3:
    for _ in range(8):
        step()
else:
    print("training", flush=True)
    while not control.should_training_stop:
        step()
        time.sleep(0.01)
call("epoch_end")
log(train_runtime=1.1, total_flos=0.0, train_loss=0.49)
call("train_end")
if len(sys.argv) < 3:
    evaluate()
print("ended", control.should_training_stop, control.should_save)
