import os
import unittest
import unittest.mock

import forge
from forge.config import ConfigError, read_config, spool_root

COMPLETE = {
    "SERVICE_ENABLED": "1",
    "SERVICE_ENDPOINT": "http://127.0.0.1:8080/api/ingest",
    "SERVICE_RUN_ID": "run_1",
    "SERVICE_TOKEN": "fit_1_secret",
}


class ServiceEnabled(unittest.TestCase):
    def test_anything_but_0_and_1_raises(self):
        for value in ("", " ", "true", "True", "yes", "on", "2", "01", "1 ", " 1", "0 ", "false", "no", "None"):
            with self.subTest(value=value), self.assertRaises(ConfigError) as raised:
                read_config({**COMPLETE, "SERVICE_ENABLED": value})
            self.assertIn(repr(value), str(raised.exception))

    def test_unset_raises_even_where_the_rest_is_set(self):
        env = {name: value for name, value in COMPLETE.items() if name != "SERVICE_ENABLED"}
        with self.assertRaisesRegex(ConfigError, "not set"):
            read_config(env)

    def test_0_is_off_and_needs_nothing_else(self):
        self.assertIsNone(read_config({"SERVICE_ENABLED": "0"}))

    def test_1_with_something_missing_or_empty_names_it(self):
        for name in ("SERVICE_ENDPOINT", "SERVICE_RUN_ID", "SERVICE_TOKEN"):
            rest = {key: value for key, value in COMPLETE.items() if key != name}
            for env in (rest, {**rest, name: ""}, {**rest, name: "  "}):
                with self.subTest(env=env), self.assertRaisesRegex(ConfigError, name):
                    read_config(env)

    def test_all_that_is_missing_is_named_at_once(self):
        with self.assertRaisesRegex(ConfigError, "SERVICE_ENDPOINT and SERVICE_RUN_ID and SERVICE_TOKEN are missing"):
            read_config({"SERVICE_ENABLED": "1"})


class Address(unittest.TestCase):
    def test_what_cannot_be_sent_to_is_refused_at_once(self):
        for endpoint in ("http://", "http://:80", "http://host:port/x", "http://host name/", "http://[::1", "ftp://host"):
            with self.subTest(endpoint=endpoint), self.assertRaisesRegex(ConfigError, "SERVICE_ENDPOINT"):
                read_config({**COMPLETE, "SERVICE_ENDPOINT": endpoint})

    def test_what_cannot_be_a_token_is_refused_at_once_and_not_shown(self):
        for token in ("“fit_1_secret”", "fit_1 secret", "fit_1\nsecret"):
            with self.subTest(token=token), self.assertRaisesRegex(ConfigError, "SERVICE_TOKEN") as raised:
                read_config({**COMPLETE, "SERVICE_TOKEN": token})
            self.assertNotIn("secret", str(raised.exception))

    def test_the_spool_stays_where_it_is_when_the_program_changes_its_folder(self):
        with unittest.mock.patch.dict(os.environ, HOME="relative"):
            self.assertTrue(os.path.isabs(spool_root({})))

    def test_a_trailing_slash_of_the_endpoint_does_not_matter(self):
        config = read_config({**COMPLETE, "SERVICE_ENDPOINT": "https://forge.example/api/ingest/"})
        self.assertEqual(config.endpoint, "https://forge.example/api/ingest")

    def test_an_endpoint_that_is_no_url_raises(self):
        with self.assertRaisesRegex(ConfigError, "http"):
            read_config({**COMPLETE, "SERVICE_ENDPOINT": "forge.example/api/ingest"})

    def test_the_rank_is_taken_from_the_launcher(self):
        self.assertEqual(read_config(COMPLETE).rank, 0)
        self.assertEqual(read_config({**COMPLETE, "RANK": "3", "SLURM_PROCID": "1"}).rank, 3)

    def test_of_processes_that_lightning_starts_only_the_first_is_rank_0(self):
        ranks = [
            read_config({**COMPLETE, "WORLD_SIZE": "4", "NODE_RANK": node, "LOCAL_RANK": local}).rank
            for node in "01"
            for local in "01"
        ]
        self.assertEqual(ranks[0], 0)
        self.assertEqual(len(set(ranks)), 4)
        # Among torchrun's variables, the rank itself counts.
        self.assertEqual(read_config({**COMPLETE, "RANK": "0", "LOCAL_RANK": "1"}).rank, 0)
        self.assertEqual(read_config({**COMPLETE, "SLURM_PROCID": "1"}).rank, 1)

class ResumeFrom(unittest.TestCase):
    def test_the_checkpoint_of_an_earlier_attempt_comes_before_that_of_another_job(self):
        other = {"FORGE_INIT_FROM": "other.npz", "FORGE_INIT_LOAD": "full_state"}
        for env, expected in (
            ({}, None),
            ({"FORGE_RESUME_FROM": ""}, None),
            (other, "other.npz"),
            ({**other, "FORGE_INIT_LOAD": "weights"}, None),
            ({**other, "FORGE_RESUME_FROM": "own.npz"}, "own.npz"),
        ):
            with self.subTest(env=env), unittest.mock.patch.dict(os.environ, env, clear=True):
                self.assertEqual(forge.resume_from(), expected)


if __name__ == "__main__":
    unittest.main()
