import os
import tarfile
import tempfile
import unittest

from forge.artifacts import ArtifactError, artifact_of
from forge.folders import NotPacked, entries_of, packed


class Folders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "step-3")
        os.makedirs(os.path.join(self.folder, "shards", "empty"))
        self.write("config.json", b"{}")
        self.write("shards/one.bin", b"weights")

    def write(self, name, content):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(content)

    def names(self):
        with packed(self.folder) as file, tarfile.open(fileobj=file) as archive:
            return {entry.name: (entry.type, entry.size) for entry in archive.getmembers()}

    def test_all_files_and_folders_are_packed(self):
        self.assertEqual(
            self.names(),
            {
                "config.json": (tarfile.REGTYPE, 2),
                "shards": (tarfile.DIRTYPE, 0),
                "shards/empty": (tarfile.DIRTYPE, 0),
                "shards/one.bin": (tarfile.REGTYPE, 7),
            },
        )

    def test_links_to_files_and_further_names_of_files_are_packed_as_files(self):
        os.symlink("config.json", os.path.join(self.folder, "link.json"))
        os.link(os.path.join(self.folder, "config.json"), os.path.join(self.folder, "twin.json"))
        names = self.names()
        for name in ("config.json", "link.json", "twin.json"):
            self.assertEqual(names[name], (tarfile.REGTYPE, 2))

    def test_the_same_content_makes_the_same_bytes(self):
        with packed(self.folder) as file:
            first = file.read()
        os.utime(os.path.join(self.folder, "config.json"), (1, 1))
        with packed(self.folder) as file:
            self.assertEqual(file.read(), first)

    def test_what_cannot_be_packed_is_named(self):
        os.symlink("shards", os.path.join(self.folder, "other"))
        with self.assertRaisesRegex(NotPacked, "other is a link to something other than a file"):
            entries_of(self.folder)
        with self.assertRaisesRegex(ArtifactError, "cannot upload .*other is a link"):
            artifact_of("checkpoint", self.folder, "x", None, None, None, True)
        os.remove(os.path.join(self.folder, "other"))
        with self.assertRaisesRegex(NotPacked, "holds no file"):
            entries_of(os.path.join(self.folder, "shards", "empty"))


if __name__ == "__main__":
    unittest.main()
