import json
import os
import tempfile
import unittest

from forge.claim import project_near

from .test_api import run_script

# Nothing listens there.
AWAY = {"FORGE_HOST": "http://127.0.0.1:9", "FORGE_TOKEN": "x"}


class Project(unittest.TestCase):
    def test_a_name_that_no_project_has_is_refused_at_once_even_offline(self):
        for project, hint in (("My Project!", ", such as 'my-project'\n"), ("", "digit\n"), ("实验", "digit\n"), ("run_1", "such as '1'\n")):
            code, _, err, left = run_script("import forge; forge.init(project=%r)" % project, **AWAY)
            with self.subTest(project=project):
                self.assertEqual((code, left), (1, []))
                self.assertRegex(err, "ConfigError: a project cannot be named %r: .*%s$" % (project, hint))
                self.assertEqual(err.count("Traceback"), 1)

    def test_the_nearest_name(self):
        for text, near in (("a.b_c-1", "a.b_c-1"), ("Vision 2", "vision-2"), ("_x_", "x_"), ("run_run_a", "a"), ("é", ""), ("a" * 70, "a" * 63)):
            self.assertEqual(project_near(text), near)

    def test_code_written_for_wandb_gets_it(self):
        script = "import forge.wandb as wandb\nrun = wandb.init(%s); print(run.project); run.forge.finish(timeout=0.1)"
        _, out, err, _ = run_script(script % "project='My Project'", **AWAY)
        self.assertEqual(out, "my-project\n")
        self.assertIn("warning: the project 'My Project' is 'my-project' here", err)
        _, out, err, _ = run_script(script % "", WANDB_PROJECT="demo", **AWAY)
        self.assertEqual(out, "demo\n", err)


class Created(unittest.TestCase):
    def body(self, arguments):
        script = "import forge; run = forge.init(project='demo', monitor_hardware=False, %s); run.finish(timeout=0.1)"
        with tempfile.TemporaryDirectory() as spool:
            code, _, err, _ = run_script(script % arguments, **AWAY, FORGE_SPOOL_DIR=spool)
            self.assertEqual(code, 0, err)
            (folder,) = os.listdir(spool)
            with open(os.path.join(spool, folder, "run.json"), encoding="utf-8") as file:
                return json.load(file)["claim"]["body"], err

    def test_a_text_is_one_tag_and_a_number_can_be_a_name(self):
        body, err = self.body("name=5, tags='baseline'")
        self.assertEqual((body["name"], body["tags"]), ("5", ["baseline"]))
        self.assertNotIn("warning", err)

    def test_tags_are_cleaned_as_later_ones_are(self):
        body, err = self.body("tags=[' a ', 'a', '', *map(str, range(70))]")
        self.assertEqual(body["tags"], ["a", *map(str, range(63))])
        self.assertIn("the run is created with", err)

    def test_what_cannot_be_reached_is_named(self):
        _, err = self.body("name='a'")
        self.assertIn("nothing can be sent to http://127.0.0.1:9/api/ingest now (ConnectionRefusedError", err)


class Strict(unittest.TestCase):
    def test_a_start_that_failed_leaves_nothing_to_send_later(self):
        code, _, err, left = run_script("import forge; forge.init({'lr': 1}, project='demo', strict=True)", **AWAY)
        self.assertEqual((code, left), (1, []))
        self.assertIn("does not accept reports", err)
        self.assertNotIn("kept in", err)


class Workers(unittest.TestCase):
    def test_a_process_that_was_not_forked_is_told_where_to_log(self):
        script = """
            import multiprocessing, forge
            forge.init()
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                pool.apply(forge.log, ({"loss": 1.0},))
        """
        code, _, err, _ = run_script(script, SERVICE_ENABLED="0")
        self.assertEqual(code, 1)
        self.assertRegex(err, r"call forge.init\(\) first; a process that multiprocessing starts .* return its values to the parent")


if __name__ == "__main__":
    unittest.main()
