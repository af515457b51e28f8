"""Trains one small model on all nodes of a job at once, in plain Python, and reports its progress.

Each rank computes on its own share of the samples; the gradients of all are summed at every step (`gang.py`).
"""

import hashlib
import json
import math
import os
import random
import socket
import sys

import forge
import gang

CHECKED_STEPS = 3
NEARLY = 1e-9


def read_params():
    with open(os.environ["FORGE_PARAMS_FILE"], encoding="utf-8") as file:
        return json.load(file)


def make_samples(params):
    """Training and validation data: points on two sides of a plane, some of them on the wrong side."""
    rng = random.Random(params["seed"])
    plane = [rng.gauss(0, 1) for _ in range(params["features"])]
    samples = []
    for _ in range(params["samples"] + params["samples"] // 5):
        point = [rng.gauss(0, 1) for _ in plane]
        samples.append((point, 1.0 if dot(plane, point) + rng.gauss(0, 1) > 0 else 0.0))
    return samples[: params["samples"]], samples[params["samples"] :]


def dot(left, right):
    return sum(a * b for a, b in zip(left, right))


def sums_over(weights, samples):
    """Sums of the gradient, the loss and the correct answers: the sums of shares add up to the total."""
    gradient, loss, right = [0.0] * len(weights), 0.0, 0
    for point, label in samples:
        score = dot(weights, point)
        # The logarithm of 1 + e^score, without computing e^score, which may overflow.
        loss += max(score, 0.0) + math.log1p(math.exp(-abs(score))) - label * score
        error = 1 / (1 + math.exp(-max(min(score, 500.0), -500.0))) - label
        right += (score > 0) == (label > 0.5)
        for index, value in enumerate(point):
            gradient[index] += error * value
    return gradient + [loss, right]


def step_from(weights, sums, count, lr):
    """The next weights, the loss and the accuracy."""
    *gradient, loss, right = sums
    return [w - lr * g / count for w, g in zip(weights, gradient)], loss / count, right / count


def steps_alone(weights, samples, lr):
    """The result that the nodes together must reach."""
    for _ in range(CHECKED_STEPS):
        weights, _, _ = step_from(weights, sums_over(weights, samples), len(samples), lr)
    return weights


def compare(weights, alone):
    difference = max(abs(a - b) for a, b in zip(weights, alone))
    if difference > NEARLY:
        raise gang.GangError("the nodes together differ from one process by %g" % difference)
    print("%d steps on all nodes match one process (%g apart)" % (CHECKED_STEPS, difference), flush=True)


def starting_point(features):
    """The newest checkpoint of this run, or of the one it starts from."""
    path = os.environ.get("FORGE_RESUME_FROM") or os.environ.get("FORGE_INIT_FROM")
    if path is None:
        return {"step": 0, "weights": [0.0] * features}
    with open(path, encoding="utf-8") as file:
        saved = json.load(file)
    if len(saved["weights"]) != features:
        raise ValueError("%s has %d weights, not %d" % (path, len(saved["weights"]), features))
    print("continues at step %d from %s" % (saved["step"], path), flush=True)
    return saved


def save(run, step, weights, loss):
    path = os.path.abspath("model-%d.json" % step)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump({"step": step, "weights": weights}, file)
    os.replace(path + ".new", path)
    run.log_artifact("checkpoint", path, "json", step, metrics={"train/loss": loss})
    print("saved %s" % path, flush=True)


def validate(run, weights, samples, step):
    *_, loss, right = sums_over(weights, samples)
    run.log({"val/loss": loss / len(samples), "val/accuracy": right / len(samples)}, step - 1)
    print("step %d  val loss %.4f  val accuracy %.4f" % (step, loss / len(samples), right / len(samples)), flush=True)


def train(run, ranks, params):
    samples, held_out = make_samples(params)
    share = samples[ranks.rank :: ranks.size]
    print("rank %d of %d on %s: %d of %d samples" % (ranks.rank, ranks.size, socket.gethostname(), len(share), len(samples)), flush=True)
    start = ranks.told(starting_point(params["features"]) if ranks.rank == 0 else None)
    first, weights = start["step"], start["weights"]
    save_every = int(os.environ.get("FORGE_CHECKPOINT_EVERY") or params["checkpoint_every"])
    alone = steps_alone(weights, samples, params["lr"]) if ranks.rank == 0 else None
    for step in range(first + 1, params["steps"] + 1):
        asked_to_end = 1.0 if ranks.rank == 0 and run.should_stop() else 0.0
        *sums, ending = ranks.sum(sums_over(weights, share) + [asked_to_end])
        weights, loss, accuracy = step_from(weights, sums, len(samples), params["lr"])
        is_last = ending > 0 or step == params["steps"]
        if ranks.rank == 0:
            if step == first + CHECKED_STEPS:
                compare(weights, alone)
            run.log({"train/loss": loss, "train/accuracy": accuracy}, step - 1)
            if is_last or step % params["eval_every"] == 0:
                validate(run, weights, held_out, step)
            if is_last or step % save_every == 0:
                save(run, step, weights, loss)
        if ending > 0:
            print("asked to end after step %d" % step, flush=True)
            break
    agree(ranks, weights)


def agree(ranks, weights):
    digest = hashlib.sha256(json.dumps(weights).encode()).hexdigest()[:16]
    digests = ranks.gathered(digest)
    if len(set(digests)) > 1:
        raise gang.GangError("the ranks hold different weights: %s" % ", ".join(digests))
    if ranks.rank == 0:
        print("all %d ranks hold the same weights (%s)" % (ranks.size, digest), flush=True)


def main():
    params = read_params()
    try:
        ranks = gang.join(os.environ, params["join_timeout_s"])
        with forge.init(dict(params, world_size=ranks.size)) as run:
            train(run, ranks, params)
        ranks.leave()
    except gang.GangError as error:
        sys.exit("data-parallel: %s" % error)


if __name__ == "__main__":
    main()
