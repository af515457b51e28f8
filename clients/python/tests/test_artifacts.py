import os
import tempfile
import unittest

from forge.artifacts import KINDS, ArtifactError, artifact_of


def made(kind="checkpoint", path="s3://bucket/model.pt", format="torch", upload=False):
    return artifact_of(kind, path, format, None, None, None, upload)


class Paths(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        self.folder = os.getcwd()
        os.mkdir("out")
        with open(os.path.join("out", "model.pt"), "w") as file:
            file.write("weights")

    def test_a_path_here_is_registered_as_the_absolute_one(self):
        absolute = os.path.join(self.folder, "out", "model.pt")
        for path in ("out/model.pt", "./out/../out/model.pt", absolute, b"out/model.pt"):
            with self.subTest(path=path):
                self.assertEqual(made(path=path).path, absolute)
        self.assertEqual(made(path="out", upload=False).path, os.path.join(self.folder, "out"))

    def test_an_address_stays_as_it_is(self):
        for path in ("s3://bucket/a/../b", "gs://bucket/x", "https://example.com/model?x=1", "file:///model.pt"):
            self.assertEqual(made(path=path).path, path)

    def test_a_missing_file_is_named(self):
        with self.assertRaisesRegex(ArtifactError, "no such file: %s" % os.path.join(self.folder, "missing.pt")):
            made(path="missing.pt")


class Mistakes(unittest.TestCase):
    def test_another_kind_is_refused_with_all_that_there_are(self):
        for kind in ("model", "", None, ["checkpoint"], 3):
            with self.subTest(kind=kind), self.assertRaises(ArtifactError) as raised:
                made(kind=kind)
            self.assertIn(repr(kind), str(raised.exception))
            for known in KINDS:
                self.assertIn(known, str(raised.exception))

    def test_a_format_is_needed(self):
        for format in ("", None):
            with self.assertRaisesRegex(ArtifactError, "format"):
                made(format=format)


if __name__ == "__main__":
    unittest.main()
