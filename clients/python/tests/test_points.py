import json
import math
import struct
import unittest

from forge.encode import Row
from forge.points import JsonPoints, Points, Request, readdressed

NAMES = ("loss", "損失/train")


def made(points, *rows):
    making = points.making()
    for row in rows:
        making.add(row)
    return making.request()


def as_sent(request):
    return json.loads(request.body)["points"]


class Blocks(unittest.TestCase):
    def setUp(self):
        self.complaints = []
        self.points = Points("run_1", 3, lambda why, count: self.complaints.append((why, count)))

    def test_a_block_in_json_is_what_json_would_have_been(self):
        rows = [
            Row(0.25, 7, NAMES, (0.1, 2)),
            Row(1.5, 8, NAMES, (math.nan, -math.inf)),
            Row(1.5, 8, ("other",), (1e300,)),
            Row(2, -(2**53) + 1, NAMES, (0.0, -0.0)),
        ]
        request = made(self.points, *rows)
        self.assertTrue(request.block and not request.body)
        self.points.as_blocks = False
        plain = made(self.points, *rows)
        self.assertFalse(plain.block)
        body, again = json.loads(plain.body), json.loads(self.points.in_json(request).body)
        self.assertEqual((again["run_id"], again["attempt"]), ("run_1", 3))
        self.assertEqual(again["points"], body["points"])
        self.assertEqual(request.points, plain.points)

    def test_rows_of_the_same_keys_share_a_table_and_keep_their_order(self):
        rows = [Row(0, 1, ("a",), (1,)), Row(0, 1, ("b",), (2,)), Row(0, 1, ("a",), (3,))]
        sent = as_sent(self.points.in_json(made(self.points, *rows)))
        self.assertEqual([(point["key"], point["value"]) for point in sent], [("a", 1), ("b", 2), ("a", 3)])

    def test_what_does_not_fit_a_block_is_json_with_all_its_rows(self):
        for odd in (Row(0, 2, ("a",), (10**400,)), Row(0, 2, ("new\nline", "a"), (1, 2)), Row(1e12, 2, ("a",), (1,))):
            request = made(self.points, Row(0, 1, ("a",), (1,)), odd, Row(0, 3, ("a",), (3,)))
            self.assertFalse(request.block)
            steps = [point["step"] for point in as_sent(request)]
            self.assertEqual((steps[0], steps[-1]), (1, 3))

    def test_nothing_makes_no_request(self):
        self.assertIsNone(made(self.points))
        self.assertIsNone(made(self.points, Row(0, 1, ("\0",), (1,))))

    def test_a_block_is_as_the_service_describes_it(self):
        block = made(self.points, Row(0.25, 7, ("a", "b"), (0.5, 1)), Row(0.5, 8, ("a", "b"), (2, 3))).block
        self.assertEqual(block[:4], b"FMB1")
        (length,) = struct.unpack("<I", block[4:8])
        head = {"run_id": "run_1", "tables": [{"keys": ["a", "b"], "rows": 2}], "attempt": 3}
        self.assertEqual(json.loads(block[8 : 8 + length]), head)
        self.assertEqual(struct.unpack("<8d", block[8 + length :]), (7, 8, 250, 500, 0.5, 1, 2, 3))

    def test_a_run_that_got_another_id_is_named_by_it(self):
        block = made(self.points, Row(0, 1, NAMES, (1, 2))).block
        other = Points("run_1", 3, lambda _why, _count: None)
        sent = readdressed(block, "run_1", "run_2")
        self.assertEqual(json.loads(other.in_json(Request("metrics", b"", 2, sent)).body)["run_id"], "run_1")
        self.assertIn(b'"run_2"', sent)
        self.assertEqual(readdressed(sent, "run_2", "run_1"), block)
        self.assertEqual(readdressed(b'{"run_id":"run_1"}', "run_1", "run_2"), b'{"run_id":"run_2"}')

    def test_a_damaged_block_is_told_and_sends_what_is_left(self):
        block = made(self.points, Row(0, 1, NAMES, (1, 2)), Row(0, 2, ("a",), (3,))).block
        for damaged in (b"FMB1", block[:-8], block[:40], b"FMB1\xff\xff\xff\xff{}"):
            self.complaints.clear()
            request = self.points.in_json(Request("metrics", b"", 3, damaged))
            self.assertEqual(self.complaints[0][1], 3)
            self.assertLess(len(as_sent(request)), 3)

    def test_json_is_full_before_the_service_would_refuse_it(self):
        points = JsonPoints("run_1", None, self.points._encoder)
        count = 0
        while not points.full:
            points.add(Row(0, count, ("k" * 250,), (0.5,)))
            count += 1
        self.assertLess(len(points.request().body), 5_000_000)


if __name__ == "__main__":
    unittest.main()
