import json
import math
import random
import unittest

from forge.encode import Row, RowEncoder, metrics_body


def encoded(*rows, complaints=None):
    kept = []
    encoder = RowEncoder(lambda why, count: (complaints if complaints is not None else []).append((why, count)))
    for row in rows:
        text, _ = encoder.encode(row)
        if text:
            kept.append(text)
    return json.loads(metrics_body("run_1", None, kept))["points"]


class Rows(unittest.TestCase):
    def test_one_row_is_one_point_for_each_key(self):
        points = encoded(Row(0.25, 7, ("loss", "acc"), (0.5, 1)))
        ts = "1970-01-01T00:00:00.250+00:00"
        self.assertEqual(
            points,
            [
                {"key": "loss", "value": 0.5, "step": 7, "ts": ts},
                {"key": "acc", "value": 1, "step": 7, "ts": ts},
            ],
        )

    def test_keys_survive_whatever_they_contain(self):
        keys = ('quo"te', "100%", "%s%d%%", "back\\slash", "損失/学習", "😀", "a b", "{}", "x" * 250)
        points = encoded(Row(0, 1, keys, tuple(range(len(keys)))))
        self.assertEqual([point["key"] for point in points], list(keys))
        self.assertEqual([point["value"] for point in points], list(range(len(keys))))

    def test_keys_that_the_service_refuses_are_left_out_and_counted(self):
        complaints = []
        keys = ("", "ok", "new\nline", "x" * 251, "nul\0", "\ud800")
        points = encoded(Row(0, 1, keys, (1, 2, 3, 4, 5, 6)), complaints=complaints)
        self.assertEqual([(point["key"], point["value"]) for point in points], [("ok", 2)])
        self.assertEqual([count for _, count in complaints], [5])

    def test_nonfinite_values_are_the_three_words(self):
        huge = 10**400
        row = Row(0, 1, ("a", "b", "c", "d", "e", "f"), (math.nan, math.inf, -math.inf, 1.5, huge, -huge))
        values = [point["value"] for point in encoded(row)]
        self.assertEqual(values, ["NaN", "Infinity", "-Infinity", 1.5, "Infinity", "-Infinity"])

    def test_finite_values_whose_sum_overflows_stay_numbers(self):
        values = [point["value"] for point in encoded(Row(0, 1, ("a", "b"), (1.7e308, 1.7e308)))]
        self.assertEqual(values, [1.7e308, 1.7e308])

    def test_every_double_is_read_back_exactly(self):
        chance = random.Random(4)
        numbers = tuple(chance.uniform(-1, 1) * 10 ** chance.randint(-300, 300) for _ in range(500))
        keys = tuple("k%d" % index for index in range(500))
        self.assertEqual(tuple(point["value"] for point in encoded(Row(0, 1, keys, numbers))), numbers)

    def test_the_same_keys_in_another_order_keep_their_values(self):
        points = encoded(Row(0, 1, ("a", "b"), (1, 2)), Row(0, 2, ("b", "a"), (3, 4)))
        self.assertEqual([(p["key"], p["value"]) for p in points], [("a", 1), ("b", 2), ("b", 3), ("a", 4)])

    def test_the_attempt_is_named_where_it_is_known(self):
        body = json.loads(metrics_body("run_1", 2, []))
        self.assertEqual(body, {"run_id": "run_1", "attempt": 2, "points": []})


class Timestamps(unittest.TestCase):
    def test_they_are_utc_with_offset_and_milliseconds(self):
        stamp = RowEncoder(lambda why, count: None).timestamp
        self.assertEqual(stamp(1_700_000_000.9994), "2023-11-14T22:13:20.999+00:00")
        self.assertEqual(stamp(1_700_000_000.9999), "2023-11-14T22:13:21.000+00:00")
        self.assertEqual(stamp(1_700_000_001.0), "2023-11-14T22:13:21.000+00:00")
        self.assertEqual(stamp(1_700_000_000.001), "2023-11-14T22:13:20.001+00:00")


if __name__ == "__main__":
    unittest.main()
