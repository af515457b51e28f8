"""Agreement of the tables in a JSON file, by scikit-learn and krippendorff; null where it is undefined."""

import json
import math
import sys
import warnings

import krippendorff
import numpy
from sklearn.metrics import cohen_kappa_score

warnings.simplefilter("ignore")


def finite(value):
    return value if math.isfinite(value) else None


def kappa(pairs):
    first, second = zip(*pairs)
    return finite(cohen_kappa_score(first, second))


def alpha(table, level):
    """The table has a row for each person, with null where they did not answer."""
    data = numpy.array([[math.nan if value is None else value for value in row] for row in table], dtype=float)
    try:
        return finite(krippendorff.alpha(reliability_data=data, level_of_measurement=level))
    except (ValueError, AssertionError):
        return None


with open(sys.argv[1]) as file:
    given = json.load(file)
json.dump(
    {
        "kappa": [kappa(pairs) for pairs in given["pairs"]],
        "alpha": [{level: alpha(table, level) for level in ("nominal", "ordinal", "interval")} for table in given["tables"]],
    },
    sys.stdout,
)
