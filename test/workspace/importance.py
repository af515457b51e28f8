"""Prints the figures that importance.test.ts expects: python -m pip install scikit-learn==1.9.1; python importance.py"""

import numpy
from scipy.stats import pearsonr, spearmanr
from sklearn.ensemble import RandomForestRegressor

state = 7


def uniform():
    """The generator of importance.test.ts."""
    global state
    state = (state * 1664525 + 1013904223) % 2**32
    return state / 2**32


rows = []
for _ in range(400):
    lr, decay, dropout, seed, width = (uniform() for _ in range(5))
    layers = float(int(uniform() * 4))
    noise = uniform() - 0.5
    target = 5 * (lr - 0.3) ** 2 + decay + 0.2 * layers + 0.1 * noise
    rows.append([lr, decay, dropout, seed, width, layers, target])
table = numpy.array(rows)
features, target = table[:, :6], table[:, 6]
forest = RandomForestRegressor(n_estimators=1000, max_features=1 / 3, random_state=0)
print("importance", [round(float(x), 3) for x in forest.fit(features, target).feature_importances_])
for name, of in (("pearson", pearsonr), ("spearman", spearmanr)):
    print(name, [round(float(of(features[:, i], target)[0]), 9) for i in range(6)])
