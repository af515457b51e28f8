"""Trains a tiny language model on sonnets.txt, reports its progress, and continues from its own checkpoints.

Without a server: `SERVICE_ENABLED=0 python train.py`; parameters as JSON in `FORGE_PARAMS`, or in the file that
`FORGE_PARAMS_FILE` names.
"""

import json
import os
import re
import time

# The matrices are small: more threads would only wait for each other, and the sums would differ between machines.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
from model import Adam, Model, cross_entropy, restore, state_of

import forge

HERE = os.path.dirname(os.path.abspath(__file__))
HELD_OUT = 3  # poems
PROMPT_LETTERS = 24
SAMPLES_FILE = "samples.jsonl"


def read_params():
    """The defaults are in recipe.yaml; the platform passes them merged with the job's parameters."""
    params = default_params(os.path.join(HERE, "recipe.yaml"))
    params.update(given_params())
    return params


def given_params():
    """The file comes first: long parameters do not fit into a variable."""
    if "FORGE_PARAMS_FILE" in os.environ:
        with open(os.environ["FORGE_PARAMS_FILE"], encoding="utf-8") as file:
            return json.load(file)
    return json.loads(os.environ.get("FORGE_PARAMS") or "{}")


def default_params(path):
    """Reads the one flat block that is needed, which saves a YAML package."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("params_default:\n", 1)[1].splitlines()
    block = []
    for line in lines:
        if not line.startswith("  "):
            break
        block.append(line)
    return {key.strip(): json.loads(value) for key, value in (line.split(":", 1) for line in block)}


class Book:
    """The poems as numbers: the last ones are held out, and the model never sees them in training."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        poems = text.strip().split("\n\n")
        self.letters = "".join(sorted(set(text)))
        self.train = self.codes_of("\n\n".join(poems[:-HELD_OUT]))
        self.held_out = self.codes_of("\n\n".join(poems[-HELD_OUT:]))
        self.words = set(words_in(text))
        self.prompts = [line[:PROMPT_LETTERS] for line in poems[-1].splitlines()]

    def codes_of(self, text):
        return np.array([self.letters.index(letter) for letter in text])

    def text_of(self, codes):
        return "".join(self.letters[code] for code in codes)


def words_in(text):
    return re.findall(r"[a-z']+", text.lower())


def batch_of(codes, model, size, rng):
    """Random positions of a text: the letters before each, and the letter there."""
    places = rng.integers(model.context, len(codes), size)
    return codes[places[:, None] + np.arange(-model.context, 0)], codes[places]


def evaluate(model, codes):
    """Loss, and share of correctly guessed letters, over a whole text."""
    places = np.arange(model.context, len(codes))
    contexts = codes[places[:, None] + np.arange(-model.context, 0)]
    probabilities, _ = model.probabilities(contexts)
    following = codes[places]
    return cross_entropy(probabilities, following), float((probabilities.argmax(axis=1) == following).mean())


def samples_of(model, book, params, step):
    """Continuations of held-out lines. The reward of each is the share of its words that occur in the book."""
    rng = np.random.default_rng([params["seed"], step])  # a separate generator, so that validating does not affect training
    samples = []
    for prompt in book.prompts[: params["samples"]]:
        codes = model.continued(book.codes_of(prompt), params["sample_length"], params["temperature"], rng)
        written = book.text_of(codes)
        words = words_in(written)[1:-1]  # the first and the last word may be cut off
        known = [word for word in words if word in book.words]
        reward = len(known) / len(words) if words else 0.0
        extra = {"words": len(words), "unknown": sorted(set(words) - book.words)}
        samples.append({"user": prompt, "assistant": written, "env": "sonnets", "reward": reward, "extra": extra})
    return samples


def validate(run, model, book, params, step):
    loss, accuracy = evaluate(model, book.held_out)
    samples = samples_of(model, book, params, step)
    reward = sum(sample["reward"] for sample in samples) / len(samples)
    run.log({"val/loss": loss, "val/accuracy": accuracy, "val/perplexity": float(np.exp(loss)), "val/reward": reward}, step)
    run.log_samples(step, samples, avg_reward=reward, accuracy=accuracy)
    with open(SAMPLES_FILE, "a", encoding="utf-8") as file:
        for sample in samples:
            file.write(json.dumps(dict(sample, step=step), ensure_ascii=False) + "\n")
    first = samples[0]
    print("step %d  val loss %.4f  reward %.2f  %r -> %r" % (step, loss, reward, first["user"], first["assistant"][:60]), flush=True)
    return {"val/loss": loss, "val/accuracy": accuracy, "val/reward": reward}


def learning_rate(params, step):
    warm_up = min(1.0, (step + 1) / 50)
    return float(params["lr"] * warm_up * (0.55 + 0.45 * np.cos(np.pi * step / params["steps"])))


def save(run, state, step, metrics):
    """Written under a temporary name first, so that a killed run leaves no partial checkpoint."""
    path = os.path.abspath("checkpoint-%06d.npz" % step)
    part = path + ".part"
    with open(part, "wb") as file:
        np.savez(file, **state)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)
    print("saved %s, %d bytes" % (path, os.path.getsize(path)), flush=True)
    run.log_artifact("checkpoint", path, "npz", step, metrics=metrics)


def begin_from(model, adam, rng):
    """The checkpoint that training continues from, or whose weights it starts with."""
    path, weights_only = forge.resume_from(), False
    if path is None:
        path, weights_only = os.environ.get("FORGE_INIT_FROM"), True
    if not path:
        return
    try:
        with np.load(path, allow_pickle=False) as arrays:
            restore(arrays, model, adam, rng, weights_only)
    except (OSError, KeyError, ValueError) as error:
        raise SystemExit("%s is not a checkpoint of this model: %s" % (path, error))
    print("%s %s, step %d" % ("weights of" if weights_only else "continues from", path, adam.steps), flush=True)


def train(run, params, book, model, adam, rng):
    """Returns the total number of steps, and the result of the last validation."""
    metrics, begun = {}, time.monotonic()
    save_every = int(os.environ.get("FORGE_CHECKPOINT_EVERY") or params["checkpoint_every"])
    keep = 1 - params["dropout"]
    for step in range(adam.steps, params["steps"]):
        contexts, following = batch_of(book.train, model, params["batch_size"], rng)
        kept = (rng.random((len(following), params["hidden"])) < keep).astype(np.float32) / np.float32(keep)
        lr = learning_rate(params, step)
        grads, loss = model.gradients(contexts, following, kept)
        adam.step(grads, lr)
        run.log({"train/loss": loss, "train/lr": lr}, step)
        done = step + 1
        if done % params["eval_every"] == 0 or done == params["steps"]:
            metrics = validate(run, model, book, params, step)
            print("  %d of %d steps, train loss %.4f, %.1f s" % (done, params["steps"], loss, time.monotonic() - begun), flush=True)
        if run.should_stop():
            print("asked to end (%s) after step %d" % (run.control["action"], step), flush=True)
            return done, metrics
        if done % save_every == 0 and done < params["steps"]:
            save(run, state_of(model, adam, rng), done, metrics)
    return params["steps"], metrics


def main():
    params = read_params()
    rng = np.random.default_rng(params["seed"])
    book = Book(os.path.join(HERE, "sonnets.txt"))
    model = Model(book.letters, params, rng)
    adam = Adam(model.weights, params["weight_decay"])
    begin_from(model, adam, rng)
    size = sum(values.size for values in model.weights.values())
    print("numpy %s; %d letters for training, %d held out, %d distinct; %d weights" % (
        np.__version__, len(book.train), len(book.held_out), len(book.letters), size), flush=True)
    with forge.init(params) as run:
        steps, metrics = train(run, params, book, model, adam, rng)
        if run.should_stop():
            if run.control["action"] == "checkpoint_and_exit":
                save(run, state_of(model, adam, rng), steps, metrics)
            return
        save(run, state_of(model, adam, rng), steps, metrics)
        if os.path.exists(SAMPLES_FILE):
            run.log_artifact("eval_report", os.path.abspath(SAMPLES_FILE), "jsonl", steps, metrics=metrics)


if __name__ == "__main__":
    main()
