"""A neural n-gram model: embeddings of the last letters, one hidden layer, and a probability for each next letter
(Bengio et al. 2003), with its gradients and optimizer written out in numpy."""

import json

import numpy as np


class Model:
    def __init__(self, letters, params, rng):
        self.letters = letters
        self.context = params["context"]
        width, hidden, count = params["embedding"], params["hidden"], len(letters)
        entering = self.context * width
        self.weights = {
            "embedding": rng.standard_normal((count, width)).astype(np.float32) * np.float32(0.1),
            "w0": (rng.standard_normal((entering, hidden)) / np.sqrt(entering)).astype(np.float32),
            "b0": np.zeros(hidden, np.float32),
            "w1": (rng.standard_normal((hidden, count)) / np.sqrt(hidden)).astype(np.float32),
            "b1": np.zeros(count, np.float32),
        }

    def probabilities(self, contexts, kept=None):
        """The probabilities of each next letter, with the inputs of both layers. `kept` scales hidden units; 0 drops one."""
        weights = self.weights
        entering = weights["embedding"][contexts].reshape(len(contexts), -1)
        hidden = np.tanh(entering @ weights["w0"] + weights["b0"])
        passed = hidden if kept is None else hidden * kept
        scores = passed @ weights["w1"] + weights["b1"]
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True), (entering, hidden, passed)

    def gradients(self, contexts, following, kept):
        """The gradients of the mean cross-entropy in nats, with that loss."""
        weights = self.weights
        delta, (entering, hidden, passed) = self.probabilities(contexts, kept)
        loss = cross_entropy(delta, following)
        delta[np.arange(len(following)), following] -= 1
        delta /= np.float32(len(following))
        grads = {"w1": passed.T @ delta, "b1": delta.sum(axis=0)}
        back = (delta @ weights["w1"].T) * (1 - hidden * hidden)
        if kept is not None:
            back *= kept
        grads["w0"], grads["b0"] = entering.T @ back, back.sum(axis=0)
        grads["embedding"] = np.zeros_like(weights["embedding"])
        np.add.at(grads["embedding"], contexts, (back @ weights["w0"].T).reshape(*contexts.shape, -1))
        return grads, loss

    def continued(self, codes, length, temperature, rng):
        """A continuation, drawn letter by letter."""
        codes = list(codes)
        for _ in range(length):
            probabilities, _ = self.probabilities(np.array([self.last_of(codes)]))
            chances = probabilities[0].astype(np.float64) ** (1 / temperature)
            codes.append(int(rng.choice(len(chances), p=chances / chances.sum())))
        return codes[-length:]

    def last_of(self, codes):
        """The context that ends with these letters; newlines stand before the beginning of a text."""
        blank = self.letters.index("\n")
        return ([blank] * self.context + list(codes))[-self.context :]


def cross_entropy(probabilities, following):
    return float(-np.log(probabilities[np.arange(len(following)), following] + 1e-12).mean())


class Adam:
    """With decoupled weight decay (Loshchilov and Hutter 2019), on matrices only."""

    def __init__(self, weights, decay):
        self.weights, self.decay, self.steps = weights, decay, 0
        self.means = {name: np.zeros_like(values) for name, values in weights.items()}
        self.squares = {name: np.zeros_like(values) for name, values in weights.items()}

    def step(self, grads, lr):
        self.steps += 1
        bias1, bias2 = 1 - 0.9**self.steps, 1 - 0.999**self.steps
        for name, grad in grads.items():
            self.means[name] += 0.1 * (grad - self.means[name])
            self.squares[name] += 0.001 * (grad * grad - self.squares[name])
            update = self.means[name] / bias1 / (np.sqrt(self.squares[name] / bias2) + 1e-8)
            if name.startswith("w"):
                update += self.decay * self.weights[name]
            self.weights[name] -= (lr * update).astype(np.float32)


def state_of(model, adam, rng):
    """Everything that training needs to continue, as arrays."""
    arrays = {"weights.%s" % name: values for name, values in model.weights.items()}
    arrays.update({"means.%s" % name: values for name, values in adam.means.items()})
    arrays.update({"squares.%s" % name: values for name, values in adam.squares.items()})
    facts = {"letters": model.letters, "context": model.context, "steps": adam.steps, "rng": rng.bit_generator.state}
    arrays["facts"] = np.array(json.dumps(facts))
    return arrays


def restore(arrays, model, adam, rng, weights_only=False):
    """Raises ValueError if the checkpoint belongs to another model."""
    facts = json.loads(str(arrays["facts"]))
    if facts["letters"] != model.letters or facts["context"] != model.context:
        raise ValueError("it was trained on other letters, or with a context of %d" % facts["context"])
    parts = [("weights", model.weights)]
    if not weights_only:
        parts += [("means", adam.means), ("squares", adam.squares)]
    for part, into in parts:
        for name, values in into.items():
            found = arrays["%s.%s" % (part, name)]
            if found.shape != values.shape:
                raise ValueError("%s is %s there, and %s here" % (name, found.shape, values.shape))
            values[...] = found
    if not weights_only:
        adam.steps = facts["steps"]
        rng.bit_generator.state = facts["rng"]
