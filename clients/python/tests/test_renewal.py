import os
import tempfile
import unittest
import unittest.mock

from forge import renewal
from forge.transport import Unreachable


class InTurn(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = directory.name
        self.path = os.path.join(self.folder, "contexts.json")

    def lock(self, age_s):
        """As another command makes it."""
        os.mkdir(self.path + ".lock")
        held = os.path.join(self.path + ".lock", "holder")
        with open(held, "w", encoding="utf-8"):
            pass
        at = os.stat(held).st_mtime - age_s
        os.utime(held, (at, at))

    def test_a_lock_is_released_and_leaves_nothing(self):
        for _ in range(2):
            with renewal.in_turn(self.path):
                self.assertEqual(os.listdir(self.folder), ["contexts.json.lock"])
        self.assertEqual(os.listdir(self.folder), [])

    def test_it_is_held_by_one(self):
        self.lock(age_s=30)
        with unittest.mock.patch.object(renewal, "_PATIENCE_S", 0.1), self.assertRaisesRegex(Unreachable, "contexts.json.lock"):
            with renewal.in_turn(self.path):
                self.fail("two hold the lock")
        self.assertEqual(os.listdir(self.path + ".lock"), ["holder"])

    def test_that_of_a_killed_process_is_opened(self):
        self.lock(age_s=50)
        with renewal.in_turn(self.path):
            self.assertNotEqual(os.listdir(self.path + ".lock"), ["holder"])
        self.assertEqual(os.listdir(self.folder), [])


class Stored(unittest.TestCase):
    def test_without_a_file_that_can_be_used_one_signs_in_again(self):
        with tempfile.TemporaryDirectory() as home:
            env = {"HOME": home}
            self.assertIsNone(renewal.renewed_token("http://localhost:9", "x", env))
            os.makedirs(os.path.join(home, ".config", "forge"))
            for text in ("", "[]", "{}", '{"contexts": {"a": {"host": "http://localhost:9", "token": "x"}}}', '{"contexts": {"a": 1}}'):
                with open(os.path.join(home, ".config", "forge", "contexts.json"), "w", encoding="utf-8") as file:
                    file.write(text)
                self.assertIsNone(renewal.renewed_token("http://localhost:9", "x", env))


if __name__ == "__main__":
    unittest.main()
