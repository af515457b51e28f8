"""Fails in the way given by its parameters: `kind`, and `seed` for the variant."""

import json
import math
import os
import random
import resource
import signal
import sys
import tempfile
import time

import forge


def given_params():
    if "FORGE_PARAMS_FILE" in os.environ:
        with open(os.environ["FORGE_PARAMS_FILE"], encoding="utf-8") as file:
            return json.load(file)
    return json.loads(os.environ.get("FORGE_PARAMS") or "{}")


def train(run, steps, loss=lambda step: 1 / (step + 1), pause=0.02):
    for step in range(steps):
        run.log({"train/loss": loss(step)}, step)
        print("step", step, "loss", loss(step), flush=True)
        time.sleep(pause)


def memory(run, seed):
    train(run, 5)
    limit = (1024 + 64 * seed) * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    kept = []
    while True:
        kept.append(bytearray(64 * 1024 * 1024))


def exception(run, seed):
    train(run, 5 + seed)
    faults = [
        lambda: 1 / (seed - seed),
        lambda: None.shape,
        lambda: [].pop(),
        lambda: {}["key"],
        lambda: len(seed),
    ]
    faults[seed % 5]()


def nan(run, seed):
    from_step = 10 + seed
    train(run, 2 * from_step, lambda step: math.nan if step >= from_step else 1 / (step + 1))
    if seed % 2:
        raise ValueError("loss is nan at step %d" % from_step)
    sys.exit(1)


def hang(run, seed):
    train(run, 10 + seed)
    run.flush()
    time.sleep(600)


def disk(run, seed):
    train(run, 5)
    if seed % 2 and os.path.exists("/dev/full"):
        with open("/dev/full", "w", encoding="utf-8") as file:
            file.write("x" * 100_000)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    with tempfile.NamedTemporaryFile(dir=".") as file:
        file.write(b"x" * 1_000_000)
        file.flush()


def data(run, seed):
    train(run, 3)
    with open("data.txt", "wb") as file:
        file.write([b'{"q": 1}\n{"q": ', b"1.5,n/a\n", b"\xff\xfe\x00", b'{"q": 1}', b"abc"][seed % 5])
    read_records("data.txt", seed % 5)


def read_records(path, form):
    if form == 4:
        import gzip

        return gzip.open(path).read()
    lines = open(path, encoding="utf-8").read().splitlines()
    if form == 1:
        return [float(field) for field in lines[0].split(",")]
    return [json.loads(line)["answer" if form == 3 else "q"] for line in lines]


def killed(run, seed):
    train(run, 3 + seed)
    run.flush()
    os.kill(os.getpid(), signal.SIGKILL)


def missing(run, seed):
    if seed % 2:
        from json import no_such_function  # noqa: F401
    import no_such_module  # noqa: F401


def slow(run, seed):
    train(run, 100_000, pause=0.05 + 0.01 * seed)


def checkpoint(run, seed):
    import pickle

    train(run, 3)
    path = "checkpoint-%d.pt" % seed
    if seed % 2 == 0:
        with open(path, "wb") as file:
            file.write(pickle.dumps(list(range(1000)))[: 100 + seed])
    load_checkpoint(path)


def load_checkpoint(path):
    import pickle

    with open(path, "rb") as file:
        return pickle.load(file)


def config(run, seed):
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float)
    parser.parse_args(["--lr", "fast"] if seed % 2 else ["--rate", str(seed)])


def crash(run, seed):
    train(run, 3 + seed)
    run.flush()
    os.kill(os.getpid(), signal.SIGSEGV)


params = given_params()
random.seed(params["seed"])
print("begins with", params, flush=True)
globals()[params["kind"]](forge.init({"seed": params["seed"]}), params["seed"])
