import os
import tempfile
import unittest

from .test_api import AWAY, run_script


class Wandb(unittest.TestCase):
    def run_script(self, script, **env):
        code, out, err, _ = run_script("import forge.wandb as wandb\n" + script, **env)
        self.assertEqual(code, 0, err)
        return out, err

    def test_disabled_needs_no_environment_and_reports_nothing(self):
        script = (
            "run = wandb.init(mode='disabled', config={'lr': 0.1})\n"
            "wandb.log({'loss': 1.0}); wandb.summary['best'] = 1; wandb.finish()\n"
            "print(run.disabled, wandb.config.lr, dict(wandb.summary))"
        )
        self.assertEqual(self.run_script(script), ("True 0.1 {'loss': 1.0, 'best': 1}\n", ""))
        script = "print(wandb.init().disabled)"
        self.assertEqual(self.run_script(script, WANDB_MODE="disabled"), ("True\n", ""))

    def test_what_is_not_there_is_told(self):
        script = (
            "print(wandb.run)\n"
            "for ask in (lambda: wandb.polish, lambda: wandb.config, lambda: wandb.log({})):\n"
            "    try: ask()\n"
            "    except (AttributeError, wandb.Error) as error: print(error)"
        )
        out, _ = self.run_script(script, SERVICE_ENABLED="0")
        none, polish, *others = out.splitlines()
        self.assertEqual((none, others), ("None", ["call wandb.init() first"] * 2))
        self.assertRegex(polish, "^forge.wandb has no polish; it has .*summary")

    def test_what_forge_does_not_have_is_left_out_with_one_warning_and_ends_no_training(self):
        script = (
            "wandb.login(key='x')\n"
            "run = wandb.init(tags=['a'], settings=wandb.Settings(start_method='fork'), name='n')\n"
            "pictures = [wandb.Image(object(), caption='c') for _ in range(3)]\n"
            "wandb.log({'loss': 1.0, 'h': pictures[0], 't': wandb.Table(columns=['a'], data=[[1]]), 'v': wandb.Histogram([1])})\n"
            "wandb.log({'p': wandb.plot.line(None, 'x', 'y')}); wandb.save('x.pt'); run.link_artifact(None, 'a')\n"
            "wandb.alert('a', level=wandb.AlertLevel.WARN); wandb.unwatch(); wandb.termwarn('careful')\n"
            "print(isinstance(pictures[0], wandb.Image), run.tags, run.name, dict(wandb.summary), wandb.run is run)\n"
            "print(len(wandb.util.generate_id()), run.group, run.resumed, os.path.isdir(run.dir), run.path)\n"
            "try: raise wandb.errors.UsageError('u')\n"
            "except wandb.Error as error: print(error)\n"
            "print(list(wandb.Api().runs('demo')))\n"
            "wandb.agent(wandb.sweep({}), function=lambda: print('trained'), count=3)\n"
            "run.forge.finish(timeout=0.1); print(wandb.run)"
        )
        out, err = self.run_script("import os\n" + script, **AWAY)
        self.assertEqual(
            out, "True ('a',) n {'loss': 1.0} True\n8 None False True /%s\nu\n[]\ntrained\nNone\n" % AWAY["SERVICE_RUN_ID"]
        )
        for name in ("Settings", "Image", "Table", "Histogram", "plot", "save", "link_artifact", "unwatch", "sweep"):
            self.assertEqual(err.count("wandb.%s has no counterpart" % name), 1, err)
        self.assertEqual(err.count("wandb.agent calls its function once"), 1, err)
        self.assertNotIn("not logged", err)

    def test_artifacts_hold_files_and_folders_and_are_found_again(self):
        script = (
            "import os, tempfile\n"
            "here = tempfile.mkdtemp(); os.makedirs(here + '/sub'); open(here + '/sub/b.txt', 'w').write('b')\n"
            "open(here + '/a.pt', 'w').write('a')\n"
            "run = wandb.init(mode='disabled')\n"
            "art = wandb.Artifact('weights', type='model', metadata={'k': 1})\n"
            "art.add_file(here + '/a.pt'); art.add_dir(here + '/sub', name='in')\n"
            "with art.new_file('note.json') as file: file.write('{}')\n"
            "art.add_reference('s3://bucket/x'); art.add(wandb.Table(columns=['a']), 'table')\n"
            "run.log_artifact(art, aliases=['best']).wait()\n"
            "found = wandb.use_artifact('me/demo/weights:latest'); folder = found.download()\n"
            "print(sorted(os.path.relpath(os.path.join(at, file), folder) for at, _, files in os.walk(folder) for file in files))\n"
            "print(open(found.get_path('in/b.txt').download()).read(), found.aliases, found.metadata)\n"
            "print(os.listdir(run.use_artifact('nobody/knows:v3').download()))\n"
            "wandb.log_artifact(here + '/missing.pt', type='model'); wandb.log_artifact(wandb.Artifact('e', 'model'))"
        )
        out, err = self.run_script(script)
        self.assertEqual(out, "['a.pt', 'in/b.txt', 'note.json']\nb ['best'] {'k': 1}\n[]\n")
        self.assertIn("the reference s3://bucket/x is left out", err)
        self.assertIn("artifact weights: table is left out", err)
        self.assertIn("wandb.use_artifact('nobody/knows:v3') found nothing", err)
        self.assertIn("artifact not logged: no such file", err)
        self.assertIn("artifact not logged: it holds no files", err)

    def test_temporary_files_of_artifacts_end_with_the_process_and_a_disabled_run_makes_none(self):
        script = (
            "import os, sys, tempfile\n"
            "tmp = tempfile.gettempdir(); here = os.environ['HERE']\n"
            "os.makedirs(here + '/sub'); open(here + '/a.pt', 'w').write('a'); open(here + '/sub/b.pt', 'w').write('b')\n"
            "run = wandb.init(mode='disabled')\n"
            "run.log_artifact(here, 'folder', 'model')\n"
            "art = wandb.Artifact('files', 'model'); art.add_dir(here); art.add_file(here + '/a.pt', 'c.pt'); run.log_artifact(art)\n"
            "print(os.listdir(tmp))\n"
            "with art.new_file('in/note.json') as file: file.write('{}')\n"
            "folder = wandb.use_artifact('files').download()\n"
            "print(sorted(os.path.relpath(os.path.join(at, file), folder) for at, _, files in os.walk(folder) for file in files))\n"
            "print(os.path.isdir(run.dir), len(os.listdir(tmp)))\n"
            "sys.stdout.flush()\n"
            "if os.fork() == 0: raise SystemExit\n"
            "os.wait(); print(len(os.listdir(tmp)))"
        )
        with tempfile.TemporaryDirectory() as tmp, tempfile.TemporaryDirectory() as here:
            out, err = self.run_script(script, TMPDIR=tmp, HERE=here)
            self.assertEqual(os.listdir(tmp), [])
            self.assertEqual(sorted(os.listdir(here)), ["a.pt", "sub"])
        self.assertEqual(out, "[]\n['a.pt', 'c.pt', 'in/note.json', 'sub/b.pt']\nTrue 3\n3\n")
        self.assertEqual(err, "")

    def test_a_new_file_is_removed_with_its_artifact(self):
        script = (
            "import os, tempfile\n"
            "wandb.init(mode='disabled')\n"
            "for epoch in range(5):\n"
            "    art = wandb.Artifact('weights', 'model')\n"
            "    with art.new_file('a.txt') as file: file.write(str(epoch))\n"
            "    wandb.log_artifact(art)\n"
            "print(len(os.listdir(tempfile.gettempdir())), open(wandb.use_artifact('weights').file()).read())"
        )
        with tempfile.TemporaryDirectory() as tmp:
            self.assertEqual(self.run_script(script, TMPDIR=tmp), ("1 4\n", ""))

    def test_an_unchanged_folder_is_uploaded_as_it_is_and_others_through_links(self):
        script = (
            "import os, tempfile\n"
            "here = os.environ['HERE']; open(here + '/a.pt', 'w').write('a'); open(here + '/c.pt', 'w').write('c')\n"
            "def stored(art):\n"
            "    with art.to_store() as path:\n"
            "        return path == here, sorted(os.listdir(path)), [open(os.path.join(path, name)).read() for name in sorted(os.listdir(path))]\n"
            "art = wandb.Artifact('w', 'model'); art.add_dir(here); print(stored(art))\n"
            "os.symlink(here, here + '/latest'); art = wandb.Artifact('w', 'model'); art.add_dir(here); print(stored(art))\n"
            "art.add_file(here + '/a.pt', 'b.pt'); art.add_file(here + '/c.pt', '../b.pt'); print(stored(art))\n"
            "print(os.listdir(tempfile.gettempdir()), os.path.islink(here + '/a.pt'))"
        )
        with tempfile.TemporaryDirectory() as tmp, tempfile.TemporaryDirectory() as here:
            out, err = self.run_script(script, TMPDIR=tmp, HERE=here)
        self.assertEqual(
            out.splitlines(),
            [
                "(True, ['a.pt', 'c.pt'], ['a', 'c'])",
                "(False, ['a.pt', 'c.pt'], ['a', 'c'])",
                "(False, ['a.pt', 'b.pt', 'c.pt'], ['a', 'c', 'c'])",
                "[] False",
            ],
        )
        self.assertEqual(err, "")

    def test_an_artifact_that_is_none_ends_no_training(self):
        script = (
            "wandb.init(mode='disabled'); wandb.log_artifact(None); wandb.log_model(None, 'weights'); wandb.log_artifact('x', aliases=3)\n"
            "open('a.pt', 'w').write('a'); wandb.log_model('a.pt', 'best', aliases='top'); best = wandb.use_artifact('best')\n"
            "print(best.type, best.aliases, 'log_model' in wandb.__all__)"
        )
        with tempfile.TemporaryDirectory() as here:
            out, err = self.run_script("import os; os.chdir(%r)\n" % here + script)
        self.assertEqual(out, "model ['top'] True\n")
        self.assertEqual(err.count("artifact not logged"), 3, err)

    def test_tags_that_are_added_replace_none(self):
        script = (
            "import glob, json, os\n"
            "run = wandb.init(tags=['a']); run.tags += ('b',); run.tags += ('b',); run.tags = ['b']; run.tags = 'c'; run.tags = 5\n"
            "run.forge.finish(timeout=0.1); print(run.tags)\n"
            "lines = [line for path in glob.glob(os.environ['FORGE_SPOOL_DIR'] + '/*/*.jsonl') for line in open(path)]\n"
            "print(*[(key, sent[key]) for sent in described(lines) for key in ('tags', 'add_tags') if key in sent])"
        )
        described = (
            "def described(lines):\n"
            "    import json\n"
            "    def found(value):\n"
            "        if isinstance(value, dict):\n"
            "            if 'tags' in value or 'add_tags' in value: yield value\n"
            "            for each in value.values(): yield from found(each)\n"
            "        elif isinstance(value, list):\n"
            "            for each in value: yield from found(each)\n"
            "    return [one for line in lines for one in found(json.loads(line))]\n"
        )
        out, err = self.run_script(described + script, **AWAY)
        self.assertEqual(
            out, "('c',)\n('add_tags', ['a']) ('add_tags', ['b']) ('tags', ['b']) ('tags', ['c'])\n"
        )
        self.assertIn("run not described", err)

    def test_options_that_would_describe_the_run_are_named_and_others_are_not(self):
        script = "wandb.init(entity='me', group='a', job_type='b', dir='x'); wandb.run.forge.finish(timeout=0.1)"
        _, err = self.run_script(script, **AWAY)
        self.assertIn("wandb.init ignores group, job_type\n", err)

    def test_alerts_are_raised_with_levels_as_there(self):
        script = (
            "import enum\n"
            "class AlertLevel(enum.Enum): ERROR = 'ERROR'\n"
            "wandb.init()\n"
            "wandb.alert('a', 'why', AlertLevel.ERROR, wait_duration=3); wandb.alert(title='b', level='WARN')\n"
            "wandb.alert('c', level='loud'); wandb.run.forge.finish(timeout=0.1)"
        )
        _, err = self.run_script(script, **AWAY)
        self.assertIn("level must be 'info', 'warn' or 'error', not 'loud'", err)
        self.assertEqual(err.count("alert not raised"), 1)

    def test_what_is_no_number_is_left_out_and_ends_no_training(self):
        script = (
            "wandb.init()\n"
            "wandb.log({'loss': 1.0, 'picture': object()}); wandb.log('nonsense'); wandb.log({'at': 1}, step='x')\n"
            "print(dict(wandb.summary)); wandb.run.forge.finish(timeout=0.1)"
        )
        out, err = self.run_script(script, **AWAY)
        self.assertEqual(out, "{'loss': 1.0}\n")
        self.assertIn("picture: object is not a number", err)

    def test_a_block_within_another_one_does_not_end_the_run(self):
        script = (
            "with wandb.init(mode='disabled') as run:\n"
            "    with run: pass\n"
            "    print(run.forge.ended)\n"
            "print(run.forge.ended)"
        )
        self.assertEqual(self.run_script(script), ("False\nTrue\n", ""))

    def test_the_configuration_is_a_mapping_and_an_object(self):
        script = (
            "run = wandb.init(config={'a': 1})\n"
            "run.config.setdefaults({'a': 2, 'b': 3}); run.config['c'] = 4; run.config.update({'d': 5})\n"
            "print(dict(run.config), 'a' in run.config, run.config.get('z'), hasattr(run.config, 'z'), len(run.config))"
        )
        out, _ = self.run_script(script, SERVICE_ENABLED="0")
        self.assertEqual(out, "{'a': 1, 'b': 3, 'c': 4, 'd': 5} True None False 4\n")


if __name__ == "__main__":
    unittest.main()
