"""The neural n-gram model that the recipe tiny-lm trains, without its training."""

import json
import os

import numpy as np

PARTS = ("embedding", "w0", "b0", "w1", "b1")


class NotAModel(Exception):
    """A file that is not a checkpoint of the recipe."""


class Model:
    def __init__(self, letters, context, weights):
        self.letters, self.context, self.weights = letters, context, weights
        self.codes = {letter: code for code, letter in enumerate(letters)}
        self.blank = self.codes.get("\n", 0)
        self.width = len(weights["b0"])

    def codes_of(self, text):
        """One number for each letter; letters it never saw become blanks."""
        return [self.codes.get(letter, self.blank) for letter in text]

    def hidden(self, contexts):
        weights = self.weights
        entering = weights["embedding"][contexts].reshape(len(contexts), -1)
        return np.tanh(entering @ weights["w0"] + weights["b0"])

    def chances(self, codes, temperature, top_p):
        """The probabilities of each next letter. A temperature of 0 leaves only the likeliest."""
        scores = self.hidden(np.array([self._last_of(codes)]))[0] @ self.weights["w1"] + self.weights["b1"]
        if temperature <= 0:
            return np.eye(len(scores))[int(scores.argmax())]
        scores = scores.astype(np.float64) / temperature
        chances = np.exp(scores - scores.max())
        chances /= chances.sum()
        if top_p < 1:
            order = np.argsort(-chances)
            before = np.cumsum(chances[order]) - chances[order]
            chances[order[before >= top_p]] = 0
            chances /= chances.sum()
        return chances

    def letters_after(self, codes, temperature, top_p, rng):
        """Letters that could follow, drawn one by one, without end."""
        codes = list(codes)[-self.context :]
        while True:
            chances = self.chances(codes, temperature, top_p)
            # Rounding may leave the sum slightly below the drawn number.
            code = min(int(np.searchsorted(np.cumsum(chances), rng.random(), side="right")), len(chances) - 1)
            codes = (codes + [code])[-self.context :]
            yield self.letters[code]

    def embedding(self, codes):
        """The mean of the hidden layer over all positions of a text, normalized to length 1."""
        padded = np.array([self.blank] * self.context + list(codes))
        places = np.arange(1, len(codes) + 1) if codes else np.array([0])
        mean = self.hidden(padded[places[:, None] + np.arange(self.context)]).mean(axis=0)
        return (mean / (np.linalg.norm(mean) or 1)).astype("<f4")

    def _last_of(self, codes):
        return ([self.blank] * self.context + list(codes))[-self.context :]


def load(path):
    """Loads a checkpoint, or the newest one in a folder."""
    if os.path.isdir(path):
        names = sorted(name for name in os.listdir(path) if name.endswith(".npz"))
        if not names:
            raise NotAModel("there is no .npz in %s" % path)
        path = os.path.join(path, names[-1])
    try:
        with np.load(path, allow_pickle=False) as arrays:
            facts = json.loads(str(arrays["facts"]))
            weights = {part: arrays["weights.%s" % part] for part in PARTS}
        model = Model(facts["letters"], int(facts["context"]), weights)
        model.embedding([model.blank])
        model.chances([], 1.0, 1.0)
        return model
    except (OSError, KeyError, TypeError, ValueError, IndexError) as error:
        raise NotAModel("%s is not a checkpoint of the recipe tiny-lm: %s" % (path, error))
