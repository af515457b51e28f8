"""Trains a small network on scikit-learn's handwritten digits, in plain numpy, and reports its progress.

Without a server: `SERVICE_ENABLED=0 python train.py`; parameters as JSON in `FORGE_PARAMS`, or in the file that
`FORGE_PARAMS_FILE` names.
"""

import json
import os
import time

# The matrices are small: more threads would only wait for each other, and the sums would differ between machines.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
from sklearn.datasets import load_digits

import forge

CLASSES = 10
SIDE = 8  # pixels
BRIGHTEST = 16.0
MODEL_FILE = "model-%d.npz"  # named by its step, because an earlier one may be in use


def read_params():
    """The defaults are in recipe.yaml; the platform passes them merged with the job's parameters."""
    here = os.path.dirname(os.path.abspath(__file__))
    params = default_params(os.path.join(here, "recipe.yaml"))
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
    lines = open(path, encoding="utf-8").read().split("params_default:\n", 1)[1].splitlines()
    block = []
    for line in lines:
        if not line.startswith("  "):
            break
        block.append(line)
    return {key.strip(): json.loads(value) for key, value in (line.split(":", 1) for line in block)}


def split_digits(rng):
    """60 % to train, 20 % to validate, 20 % to test; each class in the same proportion."""
    digits = load_digits()
    images = (digits.data / BRIGHTEST).astype(np.float32)
    parts = ([], [], [])
    for label in range(CLASSES):
        found = rng.permutation(np.flatnonzero(digits.target == label))
        for part, indexes in zip(parts, np.split(found, [int(len(found) * 0.6), int(len(found) * 0.8)])):
            part.append(indexes)
    chosen = [rng.permutation(np.concatenate(part)) for part in parts]
    return [(images[indexes], digits.target[indexes]) for indexes in chosen]


def moved(images, most, rng):
    """Shifts each image by its own random number of pixels, up to `most`; vacated pixels become dark."""
    if most == 0:
        return images
    count = len(images)
    padded = np.pad(images.reshape(count, SIDE, SIDE), ((0, 0), (most, most), (most, most)))
    down, right = rng.integers(0, 2 * most + 1, (2, count, 1))
    rows = (down + np.arange(SIDE))[:, :, None]
    columns = (right + np.arange(SIDE))[:, None, :]
    return padded[np.arange(count)[:, None, None], rows, columns].reshape(count, -1)


def new_network(hidden, rng):
    sizes = [SIDE * SIDE, hidden, hidden, CLASSES]
    weights = {}
    for layer, (width, height) in enumerate(zip(sizes, sizes[1:])):
        weights["w%d" % layer] = (rng.standard_normal((width, height)) * np.sqrt(2 / width)).astype(np.float32)
        weights["b%d" % layer] = np.zeros(height, np.float32)
    return weights


def forward(weights, images):
    """Class probabilities, and the input of each layer."""
    inputs = [images]
    for layer in (0, 1):
        inputs.append(np.maximum(inputs[-1] @ weights["w%d" % layer] + weights["b%d" % layer], 0))
    scores = inputs[-1] @ weights["w2"] + weights["b2"]
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True), inputs


def gradients(weights, images, labels):
    """The gradients of the mean cross-entropy, with the loss and the accuracy on this batch."""
    probabilities, inputs = forward(weights, images)
    loss = cross_entropy(probabilities, labels)
    accuracy = (probabilities.argmax(axis=1) == labels).mean()
    delta = probabilities
    delta[np.arange(len(labels)), labels] -= 1
    delta /= len(labels)
    grads = {}
    for layer in (2, 1, 0):
        grads["w%d" % layer] = inputs[layer].T @ delta
        grads["b%d" % layer] = delta.sum(axis=0)
        if layer:
            delta = (delta @ weights["w%d" % layer].T) * (inputs[layer] > 0)
    return grads, loss, accuracy


def cross_entropy(probabilities, labels):
    return float(-np.log(probabilities[np.arange(len(labels)), labels] + 1e-12).mean())


class Adam:
    """With decoupled weight decay (Loshchilov and Hutter 2019), on matrices only."""

    def __init__(self, weights, decay):
        self.weights, self.decay, self.steps = weights, decay, 0
        self.means = {name: np.zeros_like(values) for name, values in weights.items()}
        self.squares = {name: np.zeros_like(values) for name, values in weights.items()}

    def state(self):
        """Everything that another Adam needs to continue exactly like this one."""
        parts = {"mean": self.means, "square": self.squares}
        return {"adam/%s/%s" % (part, name): values for part, group in parts.items() for name, values in group.items()}

    def go_on(self, saved, steps):
        self.steps = steps
        for name in self.weights:
            self.means[name] = saved["adam/mean/" + name]
            self.squares[name] = saved["adam/square/" + name]

    def step(self, grads, lr):
        self.steps += 1
        bias1, bias2 = 1 - 0.9**self.steps, 1 - 0.999**self.steps
        for name, grad in grads.items():
            self.means[name] += 0.1 * (grad - self.means[name])
            self.squares[name] += 0.001 * (grad * grad - self.squares[name])
            update = self.means[name] / bias1 / (np.sqrt(self.squares[name] / bias2) + 1e-8)
            if name.startswith("w"):
                update += self.decay * self.weights[name]
            self.weights[name] -= lr * update


def evaluate(weights, images, labels):
    """Loss, accuracy, and the accuracy on each class."""
    probabilities, _ = forward(weights, images)
    right = probabilities.argmax(axis=1) == labels
    classes = {"val/accuracy/class_%d" % label: float(right[labels == label].mean()) for label in range(CLASSES)}
    return cross_entropy(probabilities, labels), float(right.mean()), classes


def learning_rate(params, step, steps):
    warm_up = min(1.0, (step + 1) / 50)
    return params["lr"] * warm_up * 0.5 * (1 + np.cos(np.pi * step / steps))


class Training:
    """Where the training stands, and everything that its next step depends on."""

    def __init__(self, params, rng):
        self.params, self.rng = params, rng
        self.weights = new_network(params["hidden"], rng)
        self.adam = Adam(self.weights, params["weight_decay"])
        self.epoch, self.step, self.saved_at = 0, 0, 0

    def load(self, path):
        """Continues exactly where the training that wrote this file stopped."""
        with np.load(path) as file:
            saved = dict(file)
        if "epoch" not in saved:
            raise SystemExit("%s holds only weights: training cannot continue from it" % path)
        for name in self.weights:
            if self.weights[name].shape != saved[name].shape:
                raise SystemExit("%s was trained with other parameters: %s is %s" % (path, name, saved[name].shape))
            self.weights[name][...] = saved[name]
        self.epoch, self.step = int(saved["epoch"]), int(saved["step"])
        self.adam.go_on(saved, self.step)
        self.rng.bit_generator.state = json.loads(str(saved["rng"]))
        self.saved_at = self.step
        print("continues after epoch %d, step %d, from %s" % (self.epoch, self.step, path), flush=True)

    def load_weights(self, path):
        """Starts with the weights of another training."""
        with np.load(path) as saved:
            for name in self.weights:
                self.weights[name][...] = saved[name]
        print("starts with the weights of %s" % path, flush=True)

    def save(self, run, metrics):
        """A file gets its final name only when complete, so a partial one is never registered, however this process ends."""
        path = os.path.abspath(MODEL_FILE % self.step)
        position = {"epoch": self.epoch, "step": self.step, "rng": json.dumps(self.rng.bit_generator.state)}
        with open(path + ".part", "wb") as file:
            np.savez(file, **self.weights, **self.adam.state(), **position)
            file.flush()
            os.fsync(file.fileno())
        os.replace(path + ".part", path)
        self.saved_at = self.step
        print("saved %s, %d bytes" % (path, os.path.getsize(path)), flush=True)
        run.log_artifact("checkpoint", path, "npz", self.step, metrics=metrics)

    def run_epoch(self, run, images, labels):
        batches = np.array_split(self.rng.permutation(len(images)), self.batches_of(images))
        steps = self.params["epochs"] * len(batches)
        for batch in batches:
            lr = learning_rate(self.params, self.step, steps)
            moved_images = moved(images[batch], self.params["shift"], self.rng)
            grads, loss, accuracy = gradients(self.weights, moved_images, labels[batch])
            self.adam.step(grads, lr)
            run.log({"train/loss": loss, "train/accuracy": accuracy, "train/lr": lr}, self.step)
            self.step += 1
        self.epoch += 1
        return loss

    def batches_of(self, images):
        return max(1, len(images) // self.params["batch_size"])


def train(run, training, train_part, val_part):
    """Ends early when the platform asks the run to end."""
    params, begun = training.params, time.monotonic()
    print_every = max(1, params["epochs"] // 20)
    save_every = int(os.environ.get("FORGE_CHECKPOINT_EVERY") or 0)
    while training.epoch < params["epochs"] and not run.should_stop():
        loss = training.run_epoch(run, *train_part)
        is_last = training.epoch == params["epochs"]
        if training.epoch % params["eval_every"] == 0 or is_last:
            val_loss, val_accuracy, classes = evaluate(training.weights, *val_part)
            values = {"val/loss": val_loss, "val/accuracy": val_accuracy, "epoch": training.epoch, **classes}
            run.log(values, training.step - 1)
            if training.epoch % print_every == 0 or is_last:
                print(
                    "epoch %d/%d  step %d  train loss %.4f  val loss %.4f  val accuracy %.4f  %.1f s"
                    % (training.epoch, params["epochs"], training.step, loss, val_loss, val_accuracy, time.monotonic() - begun),
                    flush=True,
                )
        if save_every and training.step - training.saved_at >= save_every and not is_last:
            training.save(run, {"val/accuracy": evaluate(training.weights, *val_part)[1]})
    if run.should_stop():
        print("asked to end (%s) after epoch %d" % (run.control["action"], training.epoch), flush=True)


def begin(params, rng):
    training = Training(params, rng)
    if forge.resume_from():
        training.load(forge.resume_from())
    elif os.environ.get("FORGE_INIT_FROM"):
        training.load_weights(os.environ["FORGE_INIT_FROM"])
    return training


def main():
    params = read_params()
    rng = np.random.default_rng(params["seed"])
    train_part, val_part, test_part = split_digits(rng)
    training = begin(params, rng)
    parts = (len(train_part[1]), len(val_part[1]), len(test_part[1]))
    size = sum(values.size for values in training.weights.values())
    print("numpy %s; %d images to train, %d to validate, %d to test; %d weights" % (np.__version__, *parts, size), flush=True)
    with forge.init(params) as run:
        train(run, training, train_part, val_part)
        if run.should_stop():
            if run.control["action"] == "checkpoint_and_exit" and training.step > training.saved_at:
                training.save(run, {"val/accuracy": evaluate(training.weights, *val_part)[1]})
            return
        loss, accuracy, _ = evaluate(training.weights, *test_part)
        run.log({"test/loss": loss, "test/accuracy": accuracy}, training.step - 1)
        print("test accuracy %.4f, loss %.4f" % (accuracy, loss), flush=True)
        training.save(run, {"test/accuracy": accuracy})


if __name__ == "__main__":
    main()
