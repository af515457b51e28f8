import json
import unittest

from forge import answers
from forge.points import Request
from forge.transport import Reply

POINTS = [{"key": "k%d" % index, "step": 1, "value": index} for index in range(5)]
METRICS = Request("metrics", json.dumps({"run_id": "run_1", "points": POINTS}).encode(), 5)


def reply(status, body=None, headers=None):
    """As the service itself responds."""
    content = json.dumps(body if body is not None else {"ok": True} if status == 200 else {"detail": "why"})
    return Reply(status, {"X-Request-Id": "a-request", **(headers or {})}, content.encode())


def from_proxy(status, headers=None):
    return Reply(status, headers or {}, b"<html><h1>Sorry</h1></html>")


def keys(request):
    return [point["key"] for point in json.loads(request.body)["points"]]


class Verdicts(unittest.TestCase):
    def test_only_what_the_service_says_of_the_request_itself_drops_it(self):
        for status in (400, 409, 422):
            with self.subTest(status=status):
                self.assertEqual(answers.judge(METRICS, reply(status), 1).action, answers.REFUSED)
        for status in (401, 403, 404, 405, 408, 429, 500, 501, 502, 503, 504):
            with self.subTest(status=status):
                self.assertEqual(answers.judge(METRICS, reply(status), 1).action, answers.RETRY)
        self.assertEqual(answers.judge(METRICS, reply(200), 1).action, answers.ACCEPTED)

    def test_too_many_samples_of_hardware_do_not_hold_up_the_metrics_behind_them(self):
        self.assertEqual(answers.judge(Request("hardware", b"{}", 1), reply(429), 1).action, answers.BEHIND)

    def test_too_many_alerts_are_dropped_so_that_what_is_behind_them_does_not_wait_an_hour(self):
        alert = Request("alert", b"{}", 1)
        too_many = reply(429, {"detail": "why", "code": "alert.too_many"})
        self.assertEqual(answers.judge(alert, too_many, 1).action, answers.REFUSED)
        self.assertEqual(answers.judge(alert, reply(429), 1).action, answers.RETRY)

    def test_nothing_that_a_proxy_says_drops_a_request(self):
        for status in (200, 204, 301, 302, 307, 400, 401, 403, 404, 405, 407, 409, 415, 422, 500, 501, 502, 599):
            for request in (METRICS, Request("hardware", b"{}", 1), Request("lifecycle", b"{}", 1)):
                with self.subTest(status=status, route=request.route):
                    self.assertEqual(answers.judge(request, from_proxy(status), 99).action, answers.RETRY)

    def test_the_shape_is_of_forge_only_with_a_detail_and_the_id_of_the_request(self):
        nearly = [
            Reply(422, {}, b'{"detail":"no header"}'),
            Reply(422, {"X-Request-Id": "x"}, b'{"message":"no detail"}'),
            Reply(422, {"X-Request-Id": "x"}, b"[]"),
            Reply(422, {"X-Request-Id": ""}, b'{"detail":"empty"}'),
            Reply(422, {"X-Request-Id": "x"}, b'{"detail":{"of":"another program"}}'),
        ]
        for one in nearly:
            with self.subTest(reply=one):
                self.assertEqual(answers.judge(METRICS, one, 1).action, answers.RETRY)

    def test_a_redirect_is_told_with_its_address(self):
        verdict = answers.judge(METRICS, from_proxy(302, {"Location": "https://login.example/"}), 1)
        self.assertIn("302 to https://login.example/", verdict.detail)

    def test_a_token_that_the_service_refuses_is_asked_for_seldom(self):
        self.assertEqual(answers.judge(METRICS, reply(401), 1).pause_s, answers.TOKEN_PAUSE_S)
        self.assertIsNone(answers.judge(METRICS, from_proxy(401), 1).pause_s)

    def test_a_request_that_breaks_the_server_lets_the_others_pass_but_an_absent_server_holds_them(self):
        self.assertEqual(answers.judge(METRICS, reply(500), 6).action, answers.BEHIND)
        self.assertEqual(answers.judge(METRICS, reply(503), 600).action, answers.RETRY)

    def test_only_the_rejected_points_are_dropped(self):
        errors = [{"loc": ["body", "points", index, "value"], "msg": "…", "type": "float_type"} for index in (1, 3, 3)]
        verdict = answers.judge(METRICS, reply(422, {"detail": errors}), 1)
        self.assertEqual(verdict.action, answers.REPLACED)
        self.assertEqual([keys(piece) for piece in verdict.replacements], [["k0", "k2", "k4"]])
        self.assertEqual(json.loads(verdict.replacements[0].body)["run_id"], "run_1")

    def test_a_422_that_names_no_point_drops_the_request(self):
        for detail in ([{"loc": ["body", "run_id"], "msg": "m", "type": "missing"}], "text", [17]):
            with self.subTest(detail=detail):
                self.assertEqual(answers.judge(METRICS, reply(422, {"detail": detail}), 1).action, answers.REFUSED)

    def test_too_large_is_sent_in_halves_down_to_one_point(self):
        verdict = answers.judge(METRICS, reply(413), 1)
        self.assertEqual([keys(piece) for piece in verdict.replacements], [["k0", "k1"], ["k2", "k3", "k4"]])
        single = Request("metrics", json.dumps({"points": POINTS[:1]}).encode(), 1)
        self.assertEqual(answers.judge(single, reply(413), 1).action, answers.REFUSED)

    def test_what_a_proxy_finds_too_large_and_cannot_be_halved_lets_the_others_pass(self):
        round_of_samples = Request("validation", b"x" * 1_000_000, 64)
        self.assertEqual(answers.judge(round_of_samples, from_proxy(413), 1).action, answers.BEHIND)
        self.assertEqual(answers.judge(METRICS, from_proxy(413), 1).action, answers.REPLACED)
        single = Request("metrics", json.dumps({"points": POINTS[:1]}).encode(), 1)
        self.assertEqual(answers.judge(single, from_proxy(413), 1).action, answers.RETRY)

    def test_a_server_without_a_later_route_is_no_reason_to_warn(self):
        for status in (404, 405, 501):
            verdict = answers.judge(Request("hardware", b"{}", 1), reply(status), 1)
            self.assertEqual((verdict.action, verdict.quiet), (answers.REFUSED, True))
        samples = answers.judge(Request("validation", b"{}", 1), reply(404, {"detail": "Not found"}), 1)
        self.assertEqual((samples.quiet, samples.detail), (False, "this server does not take them (404 Not found)"))
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
