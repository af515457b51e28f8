import errno
import json
import os
import resource
import stat
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

from forge.points import Request
from forge.config import Config
from forge.address import read_note
from forge.spool import SEGMENT_BYTES, Amount, Spool, run_folder

CONFIG = Config("http://127.0.0.1:1/api/ingest", "run_1", "fit_1_secret", None, 0, 0)


def request(number, size=0):
    body = json.dumps({"n": number, "pad": "x" * size}).encode()
    return Request("metrics", body, 1)


def number_of(entry):
    return json.loads(entry.body)["n"]


def drain(spool):
    numbers = []
    while spool.head() is not None:
        numbers.append(number_of(spool.head()))
        spool.pop()
    return numbers


class SpoolTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = os.path.join(directory.name, "run_1")

    def spool(self, **options):
        spool = Spool(self.folder, CONFIG, **options)
        self.addCleanup(spool.forget)
        return spool


class Order(SpoolTest):
    def test_first_in_first_out_while_both_go_on(self):
        spool = self.spool()
        numbers = []
        for number in range(50):
            spool.append(request(number))
            if number % 3 == 2:
                numbers.append(number_of(spool.head()))
                spool.pop()
        self.assertEqual(numbers + drain(spool), list(range(50)))

    def test_also_over_many_segments(self):
        spool = self.spool()
        for number in range(40):
            spool.append(request(number, size=SEGMENT_BYTES // 8))
        self.assertGreater(len([name for name in os.listdir(self.folder) if name.endswith(".jsonl")]), 3)
        self.assertEqual(drain(spool), list(range(40)))

    def test_the_head_stays_until_it_is_popped(self):
        spool = self.spool()
        spool.append(request(1))
        self.assertEqual(spool.head(), spool.head())
        self.assertEqual(drain(spool), [1])

    def test_it_goes_on_after_it_was_empty(self):
        spool = self.spool()
        for number in (1, 2, 3):
            spool.append(request(number))
            self.assertEqual(drain(spool), [number])
            self.assertTrue(spool.empty)

    def test_an_empty_spool_leaves_nothing_on_disk(self):
        spool = self.spool()
        spool.append(request(1))
        drain(spool)
        self.assertFalse(os.path.exists(self.folder))


class Crash(SpoolTest):
    def left_by_a_dead_process(self, *numbers, torn=b""):
        """A process that ends by `os._exit`, as a kill would: no lock is released by our code, nothing is closed."""
        script = (
            "import os, sys; sys.path[:0] = sys.argv[3:]\n"
            "from tests.test_spool import *\n"
            "spool = Spool(sys.argv[1], CONFIG)\n"
            "for number in json.loads(sys.argv[2]): spool.append(request(number))\n"
            "os._exit(9)"
        )
        subprocess.run([sys.executable, "-c", script, self.folder, json.dumps(numbers), *sys.path], check=False)
        segments = sorted(name for name in os.listdir(self.folder) if name.endswith(".jsonl"))
        if torn:
            with open(os.path.join(self.folder, segments[-1]), "ab") as file:
                file.write(torn)

    def test_what_a_dead_process_left_comes_first(self):
        self.left_by_a_dead_process(1, 2)
        self.left_by_a_dead_process(3)
        spool = self.spool()
        self.assertTrue(spool.adopt())
        spool.append(request(4))
        self.assertEqual(drain(spool), [1, 2, 3, 4])
        self.assertFalse(os.path.exists(self.folder))

    def test_a_line_torn_by_the_crash_is_skipped(self):
        self.left_by_a_dead_process(1, 2, torn=b'{"route":"metrics","points":1,"body":{"n":')
        spool = self.spool()
        spool.adopt()
        spool.append(request(3))
        self.assertEqual(drain(spool), [1, 2, 3])

    def test_garbage_between_lines_is_skipped(self):
        self.left_by_a_dead_process(1, torn=b"\0\0\0garbage\n" + b'{"route":"metrics","points":1,"body":{"n":2}}\n')
        spool = self.spool()
        spool.adopt()
        self.assertEqual(drain(spool), [1, 2])

    def test_what_was_not_popped_is_there_again_in_order(self):
        first = self.spool()
        for number in (1, 2, 3):
            first.append(request(number))
        first.pop() if first.head() else self.fail("nothing to pop")
        first.close()
        second = self.spool()
        second.adopt()
        self.assertEqual(drain(second), [1, 2, 3])

    def test_what_a_living_process_writes_is_left_alone(self):
        living = self.spool()
        living.append(request(1))
        other = self.spool()
        self.assertTrue(other.adopt())
        self.assertTrue(other.empty)
        self.assertEqual(drain(living), [1])

    def test_while_one_replays_the_others_wait(self):
        self.left_by_a_dead_process(1, 2)
        replaying, waiting = self.spool(), self.spool()
        self.assertTrue(replaying.adopt())
        self.assertFalse(waiting.adopt())
        waiting.append(request(3))
        self.assertFalse(waiting.adopt())
        self.assertEqual(drain(replaying), [1, 2])
        self.assertTrue(waiting.adopt())
        self.assertEqual(drain(waiting), [3])


class Limits(SpoolTest):
    def test_beyond_its_share_of_the_disk_it_refuses(self):
        spool = self.spool(max_bytes=1000)
        kept = [number for number in range(100) if spool.append(request(number, size=50))]
        self.assertLess(len(kept), 20)
        self.assertEqual(drain(spool), kept)
        self.assertTrue(spool.append(request(1)))

    def test_where_room_is_made_the_oldest_points_go_and_other_reports_stay(self):
        spool = self.spool(max_bytes=4 * SEGMENT_BYTES)
        spool.append(Request("lifecycle", b'{"n":-1}', 1))
        dropped = 0
        for number in range(40):
            dropped += spool.make_room(request(number, size=SEGMENT_BYTES // 4)).points
            self.assertTrue(spool.append(request(number, size=SEGMENT_BYTES // 4)))
        on_disk = sum(os.path.getsize(os.path.join(self.folder, name)) for name in os.listdir(self.folder))
        self.assertLess(on_disk, 4 * SEGMENT_BYTES + 10_000)
        self.assertEqual(spool.left, Amount(points=40 - dropped, reports=1))
        self.assertEqual(drain(spool), [-1, *range(dropped, 40)])
        self.assertGreater(dropped, 10)
        self.assertEqual(spool.left, Amount())
        self.assertFalse(os.path.exists(self.folder))

    def test_output_goes_as_points_do(self):
        spool = self.spool(max_bytes=4 * SEGMENT_BYTES)
        output = Request("logs", b'{"n":7,"x":"%s"}' % (b"x" * (SEGMENT_BYTES // 4)), 1)
        dropped = Amount()
        for number in range(20):
            for report in (request(number, size=SEGMENT_BYTES // 4), output):
                room = spool.make_room(report)
                dropped = Amount(dropped.points + room.points, dropped.reports + room.reports)
                self.assertTrue(spool.append(report))
        self.assertEqual(spool.left, Amount(20 - dropped.points, 20 - dropped.reports))
        self.assertGreater(dropped.points, 5)
        self.assertGreater(dropped.reports, 5)

    def test_it_knows_what_is_left_also_of_a_dead_process(self):
        first = self.spool()
        for number in (1, 2, 3):
            first.append(request(number))
        first.append(Request("lifecycle", b"{}", 1))
        self.assertEqual(number_of(first.head()), 1)
        first.pop()
        self.assertEqual(first.left, Amount(2, 1))
        first.close()
        second = self.spool()
        second.adopt()
        self.assertEqual(second.left, Amount(3, 1), "the sent part of the first file is sent again")

    def test_a_folder_that_cannot_be_made_refuses_instead_of_raising(self):
        with open(self.folder, "w") as file:
            file.write("in the way")
        self.assertFalse(self.spool().append(request(1)))


class Disk(SpoolTest):
    """A limit on the size of files stands for a full disk: part of a line is written, and then nothing."""

    def limit(self, size):
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_FSIZE, (most, most))
        resource.setrlimit(resource.RLIMIT_FSIZE, (most if size is None else size, most))

    def test_a_full_disk_neither_tears_a_line_nor_collects_files(self):
        spool = self.spool()
        self.assertTrue(spool.append(request(1)))
        self.limit(len(request(1).body) + 60)
        for number in range(20):
            self.assertFalse(spool.append(request(number)))
        self.assertIn("cannot be written (", spool.trouble)
        self.assertEqual(len([name for name in os.listdir(self.folder) if name.endswith(".jsonl")]), 1)
        self.limit(None)
        self.assertTrue(spool.append(request(2)))
        self.assertEqual((spool.trouble, drain(spool)), ("", [1, 2]))

    def test_what_is_written_after_the_disk_was_full_has_its_address(self):
        spool = self.spool()
        self.limit(0)
        for _ in range(5):
            self.assertFalse(spool.append(request(1)))
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("run.json")], [])
        self.limit(None)
        self.assertTrue(spool.append(request(1)))
        self.assertEqual(read_note(self.folder).address.token, "fit_1_secret")

    def test_where_there_are_no_locks_nothing_waits_for_ever(self):
        with unittest.mock.patch("fcntl.flock", side_effect=OSError(errno.ENOLCK, "No locks available")):
            spool = self.spool()
            self.assertTrue(spool.append(request(1)))
            self.assertTrue(spool.adopt())
            self.assertEqual(drain(spool), [1])
            self.assertTrue(spool.append(request(2)))
            other = self.spool()
            with self.assertRaisesRegex(OSError, "no locks in this file system"):
                other.adopt()
            self.assertTrue(other.empty, "it may be written by a living process")
            self.assertEqual(drain(spool), [2])


class Address(SpoolTest):
    def test_it_is_written_through_no_link_that_lies_in_wait(self):
        os.makedirs(self.folder)
        victim = os.path.join(os.path.dirname(self.folder), "victim")
        with open(victim, "w") as file:
            file.write("precious")
        os.symlink(victim, os.path.join(self.folder, "run.json.%d" % os.getpid()))
        self.spool().append(request(1))
        with open(victim) as file:
            self.assertEqual(file.read(), "precious")

    def test_the_address_is_readable_by_the_owner_alone(self):
        spool = self.spool()
        spool.append(request(1))
        path = os.path.join(self.folder, "run.json")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(os.stat(self.folder).st_mode), 0o700)
        self.assertEqual(read_note(self.folder).address.token, "fit_1_secret")

    def test_a_run_id_cannot_leave_the_root(self):
        self.assertEqual(run_folder("/spool", "../../etc"), "/spool/______etc")
        self.assertEqual(run_folder("/spool", "run_01KAB"), "/spool/run_01KAB")


if __name__ == "__main__":
    unittest.main()
