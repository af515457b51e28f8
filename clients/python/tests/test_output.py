import io
import logging
import os
import sys
import textwrap
import unittest
from unittest import mock

from forge.output import HELD_CHARS, LINE_CHARS, Held, Lines, OutputTee

from .test_api import AWAY, run_script


class Cutting(unittest.TestCase):
    def test_a_line_is_whole_once_it_has_an_end(self):
        lines = Lines()
        self.assertEqual(lines.add("one\ntw"), ["one"])
        self.assertEqual(lines.add("o\n\nrest"), ["two", ""])
        self.assertEqual(lines.finish(), ["rest"])
        self.assertEqual(lines.finish(), [])

    def test_of_a_progress_bar_its_last_state_stays(self):
        lines = Lines()
        for percent in range(100):
            self.assertEqual(lines.add("\r%d%%" % percent), [])
        self.assertEqual(lines.add("\rdone\nnext\r\n"), ["done", "next"])
        self.assertEqual(lines.add("10%\r") + lines.add("20%\r") + lines.finish(), ["20%"])

    def test_a_bar_that_never_ends_fills_no_memory(self):
        lines = Lines()
        for percent in range(10_000):
            self.assertEqual(lines.add("\r%05d%%" % percent), [])
        self.assertLess(len(lines._unfinished), 2 * LINE_CHARS)
        self.assertEqual(lines.finish(), ["09999%"])

    def test_a_long_line_is_cut(self):
        lines = Lines()
        text = "".join(chr(97 + at % 26) for at in range(3 * LINE_CHARS + 5))
        found = lines.add(text) + lines.add(" end\n")
        self.assertEqual("".join(found), text + " end")
        self.assertLessEqual(max(map(len, found)), LINE_CHARS)


class Holding(unittest.TestCase):
    def test_the_order_of_both_streams_is_kept(self):
        held = Held()
        for stream, line in (("stdout", "a"), ("stdout", "b"), ("stderr", "c"), ("stdout", "d")):
            held.add(stream, [line])
        taken = [held.take() for _ in range(4)]
        self.assertEqual(taken, [("stdout", ["a", "b"]), ("stderr", ["c"]), ("stdout", ["d"]), ("", [])])

    def test_beyond_the_limit_the_oldest_go_and_are_counted(self):
        held = Held(most_chars=20)
        for at in range(10):
            held.add("stdout", ["line %d" % at])
        held.drop_oldest()
        self.assertRegex(held.take()[1][0], r"^\[forge\] 8 lines of output left out")
        self.assertEqual(held.take(), ("stdout", ["line 8", "line 9"]))

    def test_a_request_is_small_enough_for_the_service(self):
        held = Held()
        held.add("stdout", ["\U0001f600" * LINE_CHARS] * 5 + ["x"] * 5000)
        sizes = []
        while True:
            lines = held.take()[1]
            if not lines:
                break
            sizes.append((len(lines), 12 * sum(map(len, lines))))
        self.assertLessEqual(max(count for count, _ in sizes), 10_000)
        self.assertLess(max(size for _, size in sizes), 1_000_000)
        self.assertEqual(sum(count for count, _ in sizes), 5005)


class Tee(unittest.TestCase):
    def start(self, may_post=False):
        self.posted = []
        tee = OutputTee(lambda route, fields: self.posted.append((route, fields)), lambda: may_post, {"rank": 0})
        tee.start()
        self.addCleanup(tee.stop)
        return tee

    def lines(self):
        return [(fields["stream"], line) for _, fields in self.posted for line in fields["chunks"]]

    def test_streams_show_what_they_did_and_are_left_as_they_were(self):
        out, err = io.StringIO(), io.StringIO()
        handler = logging.StreamHandler(err)  # keeps the stream itself, from before
        with mock.patch.multiple(sys, stdout=out, stderr=err):
            tee = self.start()
            print("hello", 1)
            sys.stdout.writelines(["two\n", "three"])
            handler.emit(logging.LogRecord("name", logging.INFO, "path", 1, "logged", (), None))
            tee.stop()
            print("afterwards")
        self.assertEqual(out.getvalue(), "hello 1\ntwo\nthreeafterwards\n")
        self.assertEqual(err.getvalue(), "logged\n")
        self.assertIn(("stdout", "hello 1"), self.lines())
        self.assertIn(("stderr", "logged"), self.lines())
        self.assertNotIn("write", vars(out))
        self.assertNotIn("afterwards", str(self.posted))

    def test_what_another_tool_put_in_place_of_write_is_called_and_left_there(self):
        out = io.StringIO()
        seen = []
        out.write = theirs = seen.append
        with mock.patch.multiple(sys, stdout=out, stderr=None):
            tee = self.start()
            print("both", end="")
            tee.stop()
        self.assertEqual((seen[0], self.lines(), out.write), ("both", [("stdout", "both")], theirs))

    def test_a_burst_is_queued_whole_and_in_order_whoever_prints_it(self):
        out = io.StringIO()
        texts = ["%05d %s" % (at, "x" * 90) for at in range(20_000)]
        for pieces in (["\n".join(texts) + "\n"], [text + "\n" for text in texts]):
            with mock.patch.multiple(sys, stdout=out, stderr=out):
                tee = self.start()
                for piece in pieces:
                    sys.stdout.write(piece)
                self.assertGreater(len(self.posted), 0, "what memory does not hold is queued, also while nothing can be sent")
                tee.stop()
            self.assertEqual([line for _, line in self.lines()], texts)
            sequence = [fields["seq"] for _, fields in self.posted]
            self.assertEqual(sequence, list(range(1, len(sequence) + 1)))

    def test_what_is_printed_while_lines_are_queued_comes_after_them(self):
        out = io.StringIO()
        said = []

        def post(route, fields):
            if len(said) < 30:  # as a signal handler does, or a notice
                said.append("said %d %s" % (len(said), "y" * HELD_CHARS))
                print(said[-1])
            self.posted.append(fields)

        self.posted = []
        with mock.patch.multiple(sys, stdout=out, stderr=None):
            tee = OutputTee(post, lambda: False, {"rank": 0})
            tee.start()
            for _ in range(2):
                print("x" * HELD_CHARS)
            tee.stop()
        sequence = [fields["seq"] for fields in self.posted]
        self.assertEqual(sequence, list(range(1, len(sequence) + 1)))

    def test_text_that_has_no_utf8_and_text_that_is_none(self):
        out = io.StringIO()
        with mock.patch.multiple(sys, stdout=out, stderr=None):
            tee = self.start()
            print("half \ud83d a pair")
            with self.assertRaises(TypeError):
                sys.stdout.write(3)
            tee.stop()
        self.assertEqual(self.lines(), [("stdout", "half ? a pair")])


FORKING = """
    import os, sys, forge
    run = forge.init(monitor_hardware=False, log_output=True)
    print("of the parent", flush=True)
    pid = os.fork()
    if pid == 0:
        print("of the child", flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
    before = list(run._output._held._lines)
    forge.finish(timeout=0.2)
    print("held", [line for stream, line in before if stream == "stdout"], "write" in vars(sys.stdout))
"""


@unittest.skipUnless(hasattr(os, "fork"), "needs fork")
class Processes(unittest.TestCase):
    def test_a_child_prints_and_copies_nothing(self):
        code, out, err, left = run_script(FORKING, **AWAY)
        self.assertEqual(code, 0, err)
        self.assertEqual(out, "of the parent\nof the child\nheld ['of the parent'] False\n")
        self.assertTrue([name for name in left if name.endswith(".jsonl")])

    def test_in_a_job_and_of_other_ranks_nothing_is_copied(self):
        script = textwrap.dedent(
            """
            import sys, forge
            run = forge.init(monitor_hardware=False, log_output=True)
            print(run._output, "write" in vars(sys.stdout))
            forge.finish(timeout=0.1)
            """
        )
        for env in ({"FORGE_ATTEMPT": "1"}, {"FORGE_OUTPUT_COLLECTED": "1"}, {"RANK": "1"}, {"SERVICE_ENABLED": "0"}):
            with self.subTest(env=env):
                self.assertEqual(run_script(script, **{**AWAY, **env})[:2], (0, "None False\n"))


if __name__ == "__main__":
    unittest.main()
