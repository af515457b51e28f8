"""Adverse conditions around a program: its signals, its threads, its stderr, its disk, its mistakes."""

import os
import subprocess
import sys
import unittest

from tests.test_api import AWAY, run_script

# A run created on a server that is down, and the ends that it reported, read when the process has ended.
OWN = {"FORGE_HOST": "http://127.0.0.1:9", "FORGE_TOKEN": "a-token"}
TELLS_ITS_END = """
    import atexit, os, re, sys, threading, forge, forge.run
    forge.run.CLOSE_WITHIN_S = 0.2
    def tell():
        for folder, _, names in os.walk(os.environ["FORGE_SPOOL_DIR"]):
            for name in names:
                with open(os.path.join(folder, name)) as file:
                    print(re.findall('"event": "(succeeded|failed)"', file.read()) or "", end="")
    atexit.register(tell)  # before `init`, so that it runs after the end was reported
    run = forge.init(project="demo", monitor_hardware=False)
    %s
"""

WHILE_IT_ENDS = """
    import os, signal, threading, time, forge
    run = forge.init(monitor_hardware=False)
    def kill():
        while not run.ended:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.%s)
    threading.Thread(target=kill, daemon=True).start()
    for step in range(100):
        forge.log({"loss": 1.0}, step)
    forge.finish(timeout=30)
    print("went on")
"""

# The process is asked to end at the NTH line of the code that wakes the sender, whatever locks are held there.
WHILE_IT_WAKES = """
    import os, signal, sys, forge, forge.run
    forge.run.CLOSE_WITHIN_S = 0.1
    run = forge.init(monitor_hardware=False)
    nth, wakes = %d, []
    def trace(frame, event, _arg):
        if not wakes and frame.f_code.co_name != "set":
            return None
        def at_line(_frame, event, _arg):
            if event == "line":
                wakes.append(event)
                if len(wakes) == nth:
                    sys.settrace(None)
                    os.kill(os.getpid(), signal.SIGTERM)
            return at_line
        return at_line
    sys.settrace(trace)
    forge.log_hparams({"lr": 1})
    print("went on")
"""


class Signals(unittest.TestCase):
    def test_sigterm_while_the_sender_is_woken_ends_the_process(self):
        for nth in range(1, 4):
            with self.subTest(nth=nth):
                code, out, err, _ = run_script(WHILE_IT_WAKES % nth, **AWAY)
                self.assertEqual((code, out), (-15, ""), err)

    def test_sigterm_while_the_end_is_reported_writes_down_what_waits_and_ends_the_process(self):
        code, out, err, left = run_script(WHILE_IT_ENDS % "SIGTERM", **AWAY)
        self.assertEqual((code, out), (-15, ""), err)
        self.assertRegex(err, r"forge: 100 points and \d other reports kept in ")
        self.assertTrue([name for name in left if name.endswith(".jsonl")])

    def test_ctrl_c_while_the_end_is_reported_still_says_what_is_kept(self):
        code, out, err, _ = run_script(WHILE_IT_ENDS % "SIGINT", **AWAY)
        self.assertNotEqual(code, 0)
        self.assertEqual(out, "")
        self.assertIn("KeyboardInterrupt", err)
        self.assertRegex(err, r"forge: 100 points and \d other reports kept in ")

    def test_ctrl_c_after_the_script_still_says_what_is_kept_and_nothing_else(self):
        script = WHILE_IT_ENDS.replace("forge.finish(timeout=30)", "pass") % "SIGINT"
        code, out, err, _ = run_script(script, **AWAY)
        self.assertEqual((code, out), (0, "went on\n"))
        self.assertNotIn("Traceback", err)
        self.assertRegex(err, r"forge: 100 points and 1 other report kept in ")


# A process whose terminal closes, perhaps with its own handler for that.
ENDED_BY = """
    import os, re, signal, forge, forge.run
    forge.run.CLOSE_WITHIN_S = 0.2
    %s
    forge.init(project="demo", monitor_hardware=False)
    os.kill(os.getpid(), signal.SIGHUP)
    print("went on")
"""


class ClosedTerminals(unittest.TestCase):
    def test_a_closed_terminal_ends_the_run_as_sigterm_does(self):
        code, out, err, left = run_script(ENDED_BY % "pass", **OWN)
        self.assertEqual((code, out), (-1, ""), err)
        self.assertRegex(err, r"2 other reports kept in ")

    def test_a_handler_of_the_program_comes_first(self):
        own = "signal.signal(signal.SIGHUP, lambda *_: print('saved'))"
        code, out, err, _ = run_script(ENDED_BY % own, **OWN)
        self.assertEqual((code, out), (0, "saved\nwent on\n"), err)

    def test_under_nohup_it_ends_nothing(self):
        code, out, err, _ = run_script(ENDED_BY % "signal.signal(signal.SIGHUP, signal.SIG_IGN)", **OWN)
        self.assertEqual((code, out), (0, "went on\n"), err)


class Ends(unittest.TestCase):
    def end_of(self, code):
        status, out, err, _ = run_script(TELLS_ITS_END % code, **OWN)
        self.assertEqual(status, 0, err)
        return out

    def test_exiting_a_thread_ends_no_run(self):
        thread = "thread = threading.Thread(target=sys.exit, args=(3,)); thread.start(); thread.join()"
        self.assertEqual(self.end_of(thread), "['succeeded']")

    def test_exiting_a_cell_of_a_notebook_ends_no_run(self):
        cell = "sys.ps1 = 'In : '; exec('try: sys.exit(3)\\nexcept SystemExit: pass')"
        self.assertEqual(self.end_of(cell), "['succeeded']")

    def test_any_object_may_be_the_message(self):
        self.assertEqual(self.end_of("forge.finish('failed', message=ValueError('no'), timeout=0.2)"), "['failed']")


class Surroundings(unittest.TestCase):
    def test_without_a_stderr_nothing_goes_to_stdout(self):
        script = "import forge; forge.init(monitor_hardware=False); print('result'); forge.finish(timeout=0.1)"
        sources = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src")
        out = subprocess.run(
            ["sh", "-c", 'exec "$0" -c "$1" 2>&-', sys.executable, script],
            env={
                **AWAY,
                "PYTHONPATH": sources,
                "PYTHONDONTWRITEBYTECODE": "1",
                "FORGE_SPOOL_DIR": os.path.join(os.devnull, "spool"),
            },
            stdout=subprocess.PIPE,
            timeout=60,
            check=True,
        ).stdout
        self.assertEqual(out, b"result\n")

    def test_without_room_for_another_thread_training_goes_on_and_its_reports_are_kept(self):
        code, out, err, _ = run_script(
            """
            import threading, forge
            def no_more(_thread):
                raise RuntimeError("can't start new thread")
            threading.Thread.start = no_more
            forge.init({"lr": 1})
            forge.log({"loss": 1.0}, 0)
            print("trained")
            forge.finish(timeout=1)
            """,
            **AWAY,
        )
        self.assertEqual((code, out), (0, "trained\n"), err)
        self.assertIn("can't start new thread", err)
        self.assertRegex(err, r"1 point and \d other reports kept in ")

    def test_an_error_without_words_passes_as_itself(self):
        code, out, err, _ = run_script(
            """
            import forge
            class Mute(Exception):
                def __str__(self):
                    raise TypeError("no words")
            try:
                with forge.init(monitor_hardware=False) as run:
                    finish, run.finish = run.finish, lambda state, message=None: finish(state, message=message, timeout=0.1)
                    raise Mute
            except Mute:
                print("passed")
            """,
            **AWAY,
        )
        self.assertEqual((code, out), (0, "passed\n"), err)

    def test_a_folder_that_is_gone_ends_no_training(self):
        code, out, err, _ = run_script(
            """
            import os, tempfile, forge
            folder = tempfile.mkdtemp()
            os.chdir(folder)
            os.rmdir(folder)
            forge.init(monitor_hardware=False)
            print(forge.log_artifact("checkpoint", "model.pt", "torch"))
            forge.finish(timeout=0.1)
            """,
            **AWAY,
        )
        self.assertEqual((code, out), (0, "None\n"), err)
        self.assertIn("artifact not registered: ", err)

    def test_an_address_that_nobody_can_connect_to_loses_nothing(self):
        code, _, err, _ = run_script(
            """
            import forge
            forge.init(monitor_hardware=False)
            forge.log({"loss": 1.0}, 0)
            forge.finish(timeout=2)
            """,
            **{**AWAY, "SERVICE_ENDPOINT": "http://a..b/api/ingest"},
        )
        self.assertEqual(code, 0, err)
        self.assertRegex(err, r"1 point and \d other reports kept in ")

    def test_a_step_beyond_all_numbers_costs_only_itself(self):
        code, _, err, _ = run_script(
            """
            import forge
            forge.init(monitor_hardware=False)
            for step in range(10):
                forge.log({"loss": 1.0}, step)
            forge.log({"loss": 1.0}, 10**5000)
            forge.finish(timeout=0.1)
            """,
            **AWAY,
        )
        self.assertEqual(code, 0, err)
        self.assertIn("values not logged (1): a step must lie within 2**53 of 0", err)
        self.assertRegex(err, r"10 points and \d other reports kept in ")


if __name__ == "__main__":
    unittest.main()
