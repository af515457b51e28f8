import colorsys
import json
import os
import subprocess
import sys
import tempfile
import unittest

import forge
from forge import rollouts

SRC = os.path.dirname(os.path.dirname(os.path.abspath(forge.__file__)))


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        before = list(sys.path)
        self.addCleanup(lambda: sys.path.__setitem__(slice(None), before))

    def described(self, module, program, **more):
        with open(os.path.join(self.folder.name, module + ".py"), "w") as file:
            file.write(program)
        self.addCleanup(lambda: sys.modules.pop(module, None))
        return {"path": self.folder.name, "entry": module + ":rollout", "args": {"a": 1, "b": 2}, **more}

    def environment(self, module, program, **more):
        described = {"ada/game@0.1.0": self.described(module, program, **more)}
        return rollouts.environments({"FORGE_ENVIRONMENTS": json.dumps(described)})[0]

    def test_outside_of_a_job_there_are_none(self):
        self.assertEqual(rollouts.environments({}), [])

    def test_a_rollout_gets_the_arguments_of_the_job_and_returns_a_reward(self):
        one = self.environment("game_a", "def rollout(client, args): return {'reward': client, 'args': args}\n", weight=0.5)
        self.assertEqual((one.ref, one.weight), ("ada/game@0.1.0", 0.5))
        self.assertEqual(one.rollout(3, {"b": 5}), {"reward": 3.0, "args": {"a": 1, "b": 5}})

    def test_a_rollout_may_be_asynchronous_and_return_a_number(self):
        one = self.environment("game_b", "async def rollout(client, args): return 2\n")
        self.assertEqual(one.rollout(None), {"reward": 2.0})

    def test_anything_but_a_finite_number_is_refused(self):
        for text in ("None", "True", "float('nan')", "{}", "'much'"):
            module = "game_c%d" % abs(hash(text))
            one = self.environment(module, "def rollout(client, args): return %s\n" % text)
            with self.assertRaises((TypeError, ValueError), msg=text):
                one.rollout(None)

    def test_a_module_with_the_name_of_another_is_refused(self):
        one = self.environment("colorsys", "def rollout(client, args): return 1\n")
        sys.modules["colorsys"] = colorsys
        with self.assertRaisesRegex(ImportError, "another module colorsys"):
            one.load()

    def test_the_program_reports_on_a_channel_of_its_own(self):
        order = {**self.described("game_d", "print('loud')\ndef rollout(client, args): return 1\n"), "count": 0}
        env = {**os.environ, "PYTHONPATH": SRC, "FORGE_ROLLOUTS": json.dumps(order)}
        done = subprocess.run([sys.executable, "-m", "forge.rollouts"], env=env, stdout=-1, stderr=-1, timeout=60)
        self.assertEqual(done.stdout, b'{"event": "loaded"}\n')
        self.assertIn(b"loud", done.stderr)


if __name__ == "__main__":
    unittest.main()
