import gzip
import json
import os
import tempfile
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest import mock

from forge.buffer import Buffer
from forge.config import Config
from forge.points import BLOCK_TYPE, Request
from forge.notices import Notices
from forge.spool import Amount, Spool
from forge.sync import sync
from forge.uploader import Uploader


def reached(holds):
    deadline = time.monotonic() + 30
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.005)
    return holds()


class Service(BaseHTTPRequestHandler):
    """Breaks on reports that contain the word `poison`, and accepts all others."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        broken = b"poison" in body and not self.server.healed
        if self.server.odd:
            broken = True
        if not broken:
            self.server.taken.append(json.loads(body)["n"])
        detail = [{"loc": None}] if self.server.odd else "Defect"
        reply = json.dumps({"detail": detail} if broken else {"ok": True}).encode()
        self.send_response(422 if self.server.odd else 500 if broken else 200)
        self.send_header("X-Request-Id", "a-request")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_arguments):
        pass


class Poison(unittest.TestCase):
    def setUp(self):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
        self.server.taken, self.server.healed, self.server.odd = [], False, False
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = os.path.join(directory.name, "run_1")

    def uploader(self, buffer):
        endpoint = "http://127.0.0.1:%d/api/ingest" % self.server.server_address[1]
        config = Config(endpoint, "run_1", "fit_1_secret", None, 0, 0)
        spool = Spool(self.folder, config)
        uploader = Uploader(
            config, buffer, spool, Notices(write=lambda _text: None), lambda _control: None, lambda: config.address
        )
        uploader.start()
        return uploader, spool

    def test_what_is_queued_while_the_sender_looks_and_the_process_ends_is_sent(self):
        class Late(Buffer):
            def take(self, making):
                taken = super().take(making)
                if taken is None and ending.is_set():
                    ending.clear()
                    self.put_request(Request("metrics", b'{"n": 1}', 1))
                    uploader._closing.set()
                return taken

        ending, buffer = threading.Event(), Late()
        uploader, spool = self.uploader(buffer)
        self.assertTrue(uploader.flush(15))
        ending.set()
        buffer.wake.set()
        self.assertTrue(uploader._drained.wait(15))
        self.assertTrue(uploader.close(15))
        self.assertEqual((self.server.taken, spool.left), ([1], Amount()))

    def test_a_report_that_breaks_the_service_lets_the_others_pass_and_is_kept(self):
        buffer = Buffer()
        for number in range(4):
            word = "poison" if number == 1 else "fine"
            buffer.put_request(Request("metrics", json.dumps({"n": number, "word": word}).encode(), 1))
        uploader, spool = self.uploader(buffer)
        self.assertFalse(uploader.flush(15))
        self.assertEqual(self.server.taken, [0, 2, 3])
        uploader.close(0)
        self.assertEqual((spool.left, uploader.lost.amount), (Amount(points=1), Amount()))

        self.server.healed = True
        later, spool = self.uploader(Buffer())
        self.assertTrue(later.flush(15))
        later.close(5)
        self.assertIn(1, self.server.taken)
        self.assertFalse(os.path.exists(self.folder))

    def test_a_disk_that_allows_no_lock_keeps_nothing_new_from_being_sent(self):
        earlier = Spool(self.folder, Config("http://127.0.0.1:1", "run_1", "fit_1_secret", None, 0, 0))
        earlier.append(Request("metrics", b'{"n":1}', 1))
        earlier.close()
        os.mkdir(os.path.join(self.folder, "replay.lock"))
        buffer = Buffer()
        buffer.put_request(Request("metrics", b'{"n":2,"word":"fine"}', 1))
        uploader, _ = self.uploader(buffer)
        self.assertTrue(uploader.flush(15))
        uploader.close(5)
        self.assertEqual(self.server.taken, [2])

        told = []
        root = os.path.dirname(self.folder)
        os.mkdir(os.path.join(root, "run_2"))
        self.assertEqual(sync([], {"FORGE_SPOOL_DIR": root}, told.append), 6)
        self.assertEqual([line.split(": ")[0] for line in told], [self.folder, os.path.join(root, "run_2")])

    def test_lines_of_another_version_are_counted_as_lost(self):
        earlier = Spool(self.folder, Config("http://127.0.0.1:1", "run_1", "fit_1_secret", None, 0, 0))
        earlier.append(Request("metrics", b'{"n":1,"word":"fine"}', 1))
        earlier.close()
        (segment,) = [name for name in os.listdir(self.folder) if name.endswith(".jsonl")]
        with open(os.path.join(self.folder, segment), "ab") as file:
            file.write(b'{"version":2,"route":"metrics"}\n' * 2)
        uploader, _ = self.uploader(Buffer())
        self.assertTrue(uploader.flush(15))
        uploader.close(5)
        self.assertEqual(self.server.taken, [1])
        self.assertEqual(uploader.lost.amount, Amount(reports=2))
        self.assertIn("another version", uploader.lost.why)

    def test_a_response_that_nobody_can_read_loses_nothing(self):
        self.server.odd = True
        buffer = Buffer()
        buffer.put_request(Request("lifecycle", b'{"n":1,"word":"fine"}', 1))
        uploader, spool = self.uploader(buffer)
        self.assertFalse(uploader.flush(3))
        uploader.close(0)
        self.assertEqual(spool.left, Amount(reports=1))


class JsonOnly(BaseHTTPRequestHandler):
    """An older server without blocks, or one with other faults: `statuses` are its next responses to blocks, then 415."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = 200
        if self.headers["Content-Type"] == BLOCK_TYPE:
            status = self.server.statuses.pop(0) if self.server.statuses else 415
            self.server.blocks += 1
        else:
            body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
            self.server.steps += [point["step"] for point in json.loads(body)["points"]]
        reply = json.dumps({"ok": True} if status == 200 else {"detail": "No"}).encode()
        self.send_response(status)
        self.send_header("X-Request-Id", "a-request")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_arguments):
        pass


class Unhurried(Buffer):
    """Sends the first row after a rest with all others of the interval."""

    sender_rests = property(lambda self: False, lambda self, rests: None)


class Blocks(unittest.TestCase):
    def sent_to(self, *statuses):
        """Logs 30 rows in three parts; returns the steps that came as JSON, and the number of blocks."""
        buffer = Unhurried()
        uploader, server = self.started(buffer, statuses)
        for part in range(3):
            for step in range(10):
                buffer.put(0, part * 10 + step, ("loss",), (0.5,))
            self.assertTrue(uploader.flush(15))
        uploader.close(5)
        self.assertEqual(uploader.lost.amount, Amount())
        return server.steps, server.blocks

    def started(self, buffer, statuses):
        server = ThreadingHTTPServer(("127.0.0.1", 0), JsonOnly)
        server.statuses, server.blocks, server.steps = list(statuses), 0, []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        config = Config("http://127.0.0.1:%d/api/ingest" % server.server_address[1], "run_1", "t", None, 0, 0)
        spool = Spool(os.path.join(directory.name, "run_1"), config)
        uploader = Uploader(
            config, buffer, spool, Notices(write=lambda _text: None), lambda _control: None, lambda: config.address
        )
        uploader.start()
        return uploader, server

    @mock.patch("forge.uploader.INTERVAL_S", 3600)
    def test_the_first_row_after_a_rest_is_sent_without_waiting_for_the_interval(self):
        buffer = Buffer()
        uploader, server = self.started(buffer, [])
        self.assertTrue(reached(lambda: buffer.sender_rests))
        buffer.put(0, 7, ("loss",), (0.5,))
        self.assertTrue(reached(lambda: server.steps == [7]))
        self.assertEqual(buffer.sender_rests, False)
        uploader.close(5)

    def test_a_service_that_takes_no_blocks_is_asked_once(self):
        self.assertEqual(self.sent_to(), (list(range(30)), 1))

    def test_trouble_of_the_moment_says_nothing_about_blocks(self):
        self.assertEqual(self.sent_to(503, 200, 200), (list(range(10)), 3))
        self.assertEqual(self.sent_to(200, 200, 200), ([], 3))


if __name__ == "__main__":
    unittest.main()
