import json
import threading
import unittest

from forge.buffer import MAX_POINTS_PER_REQUEST, Buffer
from forge.encode import RowEncoder
from forge.points import JsonPoints, Request


def taken(buffer):
    encoder = RowEncoder(lambda why, count: None)
    requests = []
    while True:
        request = buffer.take(JsonPoints("run_1", None, encoder))
        if request is None:
            return requests
        requests.append(request)


def points_of(request):
    return [(point["key"], point["step"], point["value"]) for point in json.loads(request.body)["points"]]


class Order(unittest.TestCase):
    def test_rows_and_requests_leave_in_the_order_they_came(self):
        buffer = Buffer()
        buffer.put(0, 1, ("a",), (1,))
        buffer.put(0, 1, ("a",), (2,))
        buffer.put_request(Request("lifecycle", b"{}", 1))
        buffer.put(0, 2, ("a",), (3,))
        requests = taken(buffer)
        self.assertEqual([request.route for request in requests], ["metrics", "lifecycle", "metrics"])
        self.assertEqual(points_of(requests[0]), [("a", 1, 1), ("a", 1, 2)])
        self.assertEqual(points_of(requests[2]), [("a", 2, 3)])

    def test_a_step_left_out_is_the_one_after_the_last(self):
        buffer = Buffer()
        for step in (None, None, 10, None, 3, None):
            buffer.put(0, step, ("a",), (0,))
        self.assertEqual([step for _, step, _ in points_of(taken(buffer)[0])], [0, 1, 10, 11, 3, 4])

    def test_steps_of_many_threads_are_all_different(self):
        buffer = Buffer()

        def log_many():
            for _ in range(500):
                buffer.put(0, None, ("a",), (0,))

        threads = [threading.Thread(target=log_many) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        steps = [step for request in taken(buffer) for _, step, _ in points_of(request)]
        self.assertEqual(sorted(steps), list(range(4000)))
        self.assertEqual(buffer.waiting, 0)


class Size(unittest.TestCase):
    def test_no_request_is_larger_than_the_service_takes(self):
        buffer = Buffer()
        buffer.put(0, 1, tuple("k%d" % index for index in range(25_000)), tuple(range(25_000)))
        for step in range(3000):
            buffer.put(0, step, ("a", "b", "c"), (1, 2, 3))
        requests = taken(buffer)
        self.assertLessEqual(max(request.points for request in requests), MAX_POINTS_PER_REQUEST)
        self.assertLessEqual(max(len(request.body) for request in requests), 5_000_000)
        self.assertEqual(sum(request.points for request in requests), 34_000)

    def test_long_keys_do_not_make_a_request_too_large(self):
        buffer = Buffer()
        keys = tuple("損" * 240 + str(index) for index in range(100))
        for step in range(100):
            buffer.put(0, step, keys, tuple(range(100)))
        self.assertLessEqual(max(len(request.body) for request in taken(buffer)), 5_000_000)

    def test_rows_without_a_valid_key_hold_up_nothing(self):
        buffer = Buffer()
        buffer.put(0, 1, ("",), (1,))
        buffer.put_request(Request("lifecycle", b"{}", 1))
        self.assertEqual([request.route for request in taken(buffer)], ["lifecycle"])
        self.assertEqual(buffer.waiting, 0)

    def test_a_full_queue_refuses_after_waiting_for_room(self):
        buffer = Buffer(capacity=10, patience_s=0.05)
        for step in range(10):
            self.assertTrue(buffer.put(0, step, ("a",), (1,)))
        self.assertFalse(buffer.put(0, 11, ("a",), (1,)))
        self.assertEqual(buffer.refused, 1)
        self.assertTrue(buffer.crowded.is_set())
        self.assertEqual(sum(request.points for request in taken(buffer)), 10)
        self.assertTrue(buffer.put(0, 11, ("a",), (1,)))


if __name__ == "__main__":
    unittest.main()
