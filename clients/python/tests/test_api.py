import inspect
import os
import pydoc
import subprocess
import sys
import tempfile
import textwrap
import unittest

import forge

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src")


def run_script(script, **env):
    """In a separate process: `init` installs hooks, and the way a process ends is part of the test."""
    with tempfile.TemporaryDirectory() as spool:
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script)],
            env={
                "PYTHONPATH": SOURCES,
                "PYTHONDONTWRITEBYTECODE": "1",
                "FORGE_SPOOL_DIR": spool,
                "PATH": os.environ.get("PATH", ""),
                **env,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
        left = [name for _, _, names in os.walk(spool) for name in names]
    return done.returncode, done.stdout.decode(), done.stderr.decode(), left


# Nothing listens there: a connection is refused at once.
AWAY = {
    "SERVICE_ENABLED": "1",
    "SERVICE_ENDPOINT": "http://127.0.0.1:9/api/ingest",
    "SERVICE_RUN_ID": "run_1",
    "SERVICE_TOKEN": "fit_1_secret",
}

AT_A_PROMPT = """
    import sys, forge
    sys.ps1 = ">>> "
    run = forge.init()
    sys.excepthook(ValueError, ValueError("typed"), None)
    print(run.ended)
    run.finish()
    run.log({"loss": 1.0})
"""

EVERYTHING = """
    import threading, forge
    with forge.init({"lr": 1}) as run:
        forge.log({"loss": 1.0}, 0)
        forge.log("nonsense")
        forge.log_hparams({"more": 1})
        forge.log_samples(1, [{"user": "u"}])
        repr(run)
        print(forge.log_artifact("checkpoint", "x", "npz"), forge.should_stop(), forge.flush())
        print(sorted(thread.name for thread in threading.enumerate()), run.enabled)
    forge.finish()
"""


class Help(unittest.TestCase):
    def test_everything_public_is_listed_and_explained(self):
        own = {name for name, value in vars(forge).items() if getattr(value, "__module__", "") == "forge"}
        self.assertEqual({name for name in own if name[0] != "_"} - set(forge.__all__), set())
        for name in forge.__all__:
            with self.subTest(name=name):
                self.assertGreater(len(inspect.getdoc(getattr(forge, name)) or ""), 40)

    def test_every_parameter_is_explained(self):
        for name in ("init", "log", "log_hparams", "log_samples", "log_artifact", "flush", "finish"):
            function = getattr(forge, name)
            for parameter in inspect.signature(function).parameters:
                with self.subTest(name=name, parameter=parameter):
                    self.assertRegex(inspect.getdoc(function), r"\b%s\b" % parameter)


    def test_a_function_of_the_module_is_the_method_of_the_run(self):
        for name in ("log", "log_hparams", "log_samples", "log_artifact", "should_stop", "flush", "finish"):
            function, method = getattr(forge, name), getattr(forge.Run, name)
            with self.subTest(name=name):
                shown = list(inspect.signature(function).parameters.values())
                self.assertEqual(shown, list(inspect.signature(method).parameters.values())[1:])
                self.assertIn(inspect.getdoc(method), pydoc.render_doc(function, renderer=pydoc.plaintext).replace("\n    ", "\n"))
                self.assertEqual((function.__name__, function.__module__), (name, "forge"))


class Disabled(unittest.TestCase):
    def test_0_does_nothing_and_says_nothing(self):
        code, out, err, left = run_script(EVERYTHING, SERVICE_ENABLED="0")
        self.assertEqual((code, err, left), (0, "", []))
        self.assertEqual(out, "None False True\n['MainThread'] False\n")

    def test_unset_raises_in_init_and_not_on_import(self):
        code, out, err, _ = run_script("import forge; print('imported'); forge.init()")
        self.assertEqual((code, out), (1, "imported\n"))
        self.assertIn("SERVICE_ENABLED is not set", err)

    def test_log_before_init_says_what_to_do(self):
        code, _, err, _ = run_script("import forge; forge.log({'a': 1})", SERVICE_ENABLED="0")
        self.assertEqual(code, 1)
        self.assertIn("forge.init()", err)


class InitAgain(unittest.TestCase):
    """`init` while a run is active, as in a re-executed notebook cell."""

    SCRIPT = """
        import os, forge
        run = forge.init({"lr": 1}, project="a", name="first", monitor_hardware=False)
        def again(*args, **options):
            try:
                print(forge.init(*args, **options) is run)
            except forge.ForgeError as error:
                print("raised:", error)
        %s
        forge.finish(timeout=0.1)
    """

    def again(self, calls):
        code, out, err, _ = run_script(self.SCRIPT % calls, **AWAY)
        self.assertEqual(code, 0, err)
        return out.splitlines(), [line for line in err.splitlines() if "init for" in line]

    def test_the_same_run_or_none_in_particular_is_returned_in_silence(self):
        calls = "again(); again({'lr': 2}); again(project='a'); again(project='a', name='first', strict=True)"
        self.assertEqual(self.again(calls), (["True"] * 4, []))

    def test_another_run_is_warned_of_with_both_names(self):
        out, told = self.again("again(project='b'); again(project='a', name='second'); again(tags=['x'])")
        self.assertEqual(out, ["True"] * 3)
        self.assertEqual(len(told), 3)
        for line, asked in zip(told, ("project='b'", "name='second'", "tags=['x']")):
            before, _, after = line.partition(" returns the active ")
            self.assertIn(asked, before)
            self.assertIn("run run_1 project='a' name='first'", after)
            self.assertIn("forge.finish()", after)

    def test_so_is_another_run_of_the_environment(self):
        out, told = self.again("os.environ['SERVICE_RUN_ID'] = 'run_2'; again()")
        self.assertEqual(out, ["True"])
        self.assertRegex(told[0], "run_id='run_2'.* active run run_1 ")

    def test_strict_raises(self):
        out, told = self.again("again(project='b', strict=True)")
        self.assertEqual(told, [])
        self.assertRegex(out[0], "^raised: init for project='b'.*run_1")


class Away(unittest.TestCase):
    def test_every_value_left_out_is_named(self):
        values = dict.fromkeys(["v%d" % number for number in range(6)])
        script = "import forge; run = forge.init(); run.log(%r); run.log({'a': 1}, step='4'); run.finish(timeout=0.1)" % values
        _, _, err, _ = run_script(script, **AWAY)
        self.assertIn("values not logged (6): v0: NoneType is not a number; v1: NoneType is not a number; v2", err)
        self.assertIn("; also v3, v4, v5\n", err)
        self.assertIn("values not logged (1): a step is a whole number, not '4' (str)\n", err)

    def test_a_mistake_at_a_prompt_ends_no_run_and_an_ended_run_says_so(self):
        code, out, err, _ = run_script(AT_A_PROMPT, **AWAY)
        self.assertEqual((code, out), (0, "False\n"))
        self.assertIn("the run has ended; forge.init starts another", err)

    def test_training_goes_on_and_its_reports_are_kept(self):
        code, out, err, left = run_script(
            """
            import forge
            run = forge.init({"lr": 1}, monitor_hardware=False)
            for step in range(100):
                forge.log({"loss": 1.0}, step)
            forge.finish(timeout=0.2)
            print("trained")
            """,
            **AWAY,
        )
        self.assertEqual((code, out), (0, "trained\n"))
        self.assertIn("100 points and 3 other reports kept in ", err)
        self.assertIn("python3 -m forge sync", err)
        self.assertTrue([name for name in left if name.endswith(".jsonl")])

    def test_a_service_that_does_not_respond_in_time_is_given_as_the_reason(self):
        code, _, err, _ = run_script(
            """
            import os, socket, forge, forge.run
            forge.run.INIT_PATIENCE_S = 0.1
            silent = socket.create_server(("127.0.0.1", 0))
            os.environ["SERVICE_ENDPOINT"] = "http://127.0.0.1:%d/api/ingest" % silent.getsockname()[1]
            forge.init(monitor_hardware=False)
            forge.log({"loss": 1.0}, 0)
            forge.finish(timeout=1.2)
            """,
            **AWAY,
        )
        self.assertEqual(code, 0, err)
        self.assertIn("send with `python3 -m forge sync` (not sent within 1.2 s)", err)

    def test_a_block_within_another_one_does_not_end_the_run(self):
        code, out, err, _ = run_script(
            """
            import forge, forge.run
            forge.run.CLOSE_WITHIN_S = 0.1
            with forge.init(monitor_hardware=False) as run:
                with forge.init() as same:
                    pass
                try:
                    with run:
                        raise ValueError
                except ValueError:
                    print(run is same, run.ended)
            print(run.ended)
            """,
            **AWAY,
        )
        self.assertEqual((code, out), (0, "True False\nTrue\n"), err)

    def test_sigterm_keeps_them_too_and_still_ends_the_process(self):
        code, _, _, left = run_script(
            """
            import os, signal, forge, forge.run
            forge.run.CLOSE_WITHIN_S = 0.2
            forge.init(monitor_hardware=False)
            forge.log({"loss": 1.0})
            os.kill(os.getpid(), signal.SIGTERM)
            """,
            **AWAY,
        )
        self.assertEqual(code, -15)
        self.assertTrue([name for name in left if name.endswith(".jsonl")])

    def test_a_handler_of_the_program_stays_in_charge_of_sigterm(self):
        code, out, _, _ = run_script(
            """
            import os, signal, sys, forge, forge.run
            forge.run.CLOSE_WITHIN_S = 0.2
            signal.signal(signal.SIGTERM, lambda number, frame: (print("checkpoint saved"), sys.exit(3)))
            forge.init(monitor_hardware=False)
            os.kill(os.getpid(), signal.SIGTERM)
            """,
            **AWAY,
        )
        self.assertEqual((code, out), (3, "checkpoint saved\n"))

    def test_strict_raises_what_else_is_a_warning(self):
        code, _, err, left = run_script("import forge; forge.init(strict=True)", **AWAY)
        self.assertEqual((code, left), (1, []))
        self.assertIn("does not accept reports", err)

    def test_other_ranks_are_silent(self):
        code, out, err, left = run_script(
            """
            import threading, forge
            run = forge.init({"lr": 1})
            forge.log({"loss": 1.0}, 0)
            forge.finish()
            print(len(threading.enumerate()))
            """,
            RANK="3",
            LOCAL_RANK="3",
            **AWAY,
        )
        self.assertEqual((code, out, err, left), (0, "1\n", "", []))

    def test_an_exception_passes_with_its_traceback(self):
        code, _, err, _ = run_script(
            """
            import forge, forge.run
            forge.run.CLOSE_WITHIN_S = 0.2
            forge.init(monitor_hardware=False)
            raise ValueError("boom")
            """,
            **AWAY,
        )
        self.assertEqual(code, 1)
        self.assertIn("ValueError: boom", err)


class Disk(unittest.TestCase):
    def test_without_a_place_to_write_reports_stay_in_memory_until_the_end(self):
        code, out, err, _ = run_script(
            """
            import forge, forge.buffer, time
            run = forge.init(monitor_hardware=False)
            for step in range(3000):
                forge.log({"loss": 1.0}, step)
            def was_put_back():
                queue = list(run._reporter.buffer._queue)
                return queue and isinstance(queue[0], forge.buffer.Request) and run._reporter.buffer.waiting >= 3000
            deadline = time.monotonic() + 20
            while not was_put_back() and time.monotonic() < deadline:
                time.sleep(0.01)
            print(bool(was_put_back()))
            forge.finish(timeout=0.1)
            """,
            **{**AWAY, "FORGE_SPOOL_DIR": "/dev/null/spool"},
        )
        self.assertEqual((code, out), (0, "True\n"))
        self.assertRegex(err, r"3,000 points and \d other reports not stored: \S*run_1 cannot be written \(Not a directory\)")


if __name__ == "__main__":
    unittest.main()
