import json
import unittest

from forge import answers
from forge.buffer import Request
from forge.transport import Reply

POINTS = [{"key": "k%d" % index, "step": 1, "value": index} for index in range(5)]
METRICS = Request("metrics", json.dumps({"run_id": "run_1", "points": POINTS}).encode(), 5)


def reply(status, body=None, headers=None):
    return Reply(status, headers or {}, json.dumps(body if body is not None else {}).encode())


def keys(request):
    return [point["key"] for point in json.loads(request.body)["points"]]


class Verdicts(unittest.TestCase):
    def test_each_status_has_its_action(self):
        table = {
            200: answers.ACCEPTED,
            400: answers.REFUSED,
            401: answers.BLOCKED,
            403: answers.BLOCKED,
            404: answers.REFUSED,
            408: answers.RETRY,
            409: answers.REFUSED,
            429: answers.RETRY,
            500: answers.RETRY,
            501: answers.REFUSED,
            502: answers.RETRY,
            503: answers.RETRY,
            504: answers.RETRY,
        }
        for status, action in table.items():
            with self.subTest(status=status):
                self.assertEqual(answers.judge(METRICS, reply(status), 1).action, action)

    def test_a_request_that_breaks_the_server_is_given_up_but_an_absent_server_is_not(self):
        self.assertEqual(answers.judge(METRICS, reply(500), 6).action, answers.REFUSED)
        self.assertEqual(answers.judge(METRICS, reply(503), 600).action, answers.RETRY)

    def test_only_the_rejected_points_are_dropped(self):
        errors = [{"loc": ["body", "points", index, "value"], "msg": "…", "type": "float_type"} for index in (1, 3, 3)]
        verdict = answers.judge(METRICS, reply(422, {"detail": errors}), 1)
        self.assertEqual(verdict.action, answers.REPLACED)
        self.assertEqual([keys(piece) for piece in verdict.replacements], [["k0", "k2", "k4"]])
        self.assertEqual(json.loads(verdict.replacements[0].body)["run_id"], "run_1")

    def test_a_422_that_names_no_point_drops_the_request(self):
        for detail in ([{"loc": ["body", "run_id"], "msg": "m", "type": "missing"}], "text", None, [17]):
            with self.subTest(detail=detail):
                self.assertEqual(answers.judge(METRICS, reply(422, {"detail": detail}), 1).action, answers.REFUSED)

    def test_too_large_is_sent_in_halves_down_to_one_point(self):
        verdict = answers.judge(METRICS, reply(413), 1)
        self.assertEqual([keys(piece) for piece in verdict.replacements], [["k0", "k1"], ["k2", "k3", "k4"]])
        single = Request("metrics", json.dumps({"points": POINTS[:1]}).encode(), 1)
        self.assertEqual(answers.judge(single, reply(413), 1).action, answers.REFUSED)

    def test_a_server_without_a_later_route_is_no_reason_to_warn(self):
        for status in (404, 405, 501):
            verdict = answers.judge(Request("hardware", b"{}", 1), reply(status), 1)
            self.assertEqual((verdict.action, verdict.quiet), (answers.REFUSED, True))
        self.assertFalse(answers.judge(Request("hardware", b"{}", 1), reply(422), 1).quiet)


class Details(unittest.TestCase):
    def test_both_forms_of_detail_are_read(self):
        self.assertEqual(answers.detail_of(reply(400, {"detail": "no such run"})), "no such run")
        fields = [{"loc": ["body", "points", 0, "key"], "msg": "Field required", "type": "missing"}]
        self.assertEqual(answers.detail_of(reply(422, {"detail": fields})), "body.points.0.key: Field required")

    def test_an_answer_that_is_no_json_has_none(self):
        self.assertEqual(answers.detail_of(Reply(502, {}, b"<html>Bad Gateway</html>")), "")


class Control(unittest.TestCase):
    def test_it_is_read_from_the_body(self):
        control = {"action": "exit", "reason": "limit", "deadline": None}
        self.assertEqual(answers.control_of(reply(200, {"ok": True, "control": control})), control)

    def test_or_from_the_header(self):
        found = answers.control_of(reply(200, {"ok": True}, {"Forge-Control": "checkpoint_and_exit; reason=pause"}))
        self.assertEqual(found, {"action": "checkpoint_and_exit", "reason": "pause", "deadline": None})

    def test_or_not_at_all(self):
        self.assertIsNone(answers.control_of(reply(200, {"ok": True, "inserted": 1})))


if __name__ == "__main__":
    unittest.main()
