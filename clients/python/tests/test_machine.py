import os
import tempfile
import unittest

from forge.environment import command_line, picture
from forge.hardware import HostSampler, parse_gpus

TWO_GPUS = """\
0, GPU-5f1c, 97, 61, 67712, 81559, 640.12, 700.00, 66, 1980, NVIDIA H100 80GB HBM3
1, GPU-77aa, 0, 0, 4, 81559, [N/A], [Not Supported], 31, 345, NVIDIA H100 80GB HBM3
"""


class Gpus(unittest.TestCase):
    def test_units_are_those_of_the_contract(self):
        first = parse_gpus(TWO_GPUS)[0]
        self.assertEqual(first["mem_used_bytes"], 67712 * 1024 * 1024)
        self.assertEqual(first["name"], "NVIDIA H100 80GB HBM3")
        self.assertEqual((first["util_pct"], first["power_w"], first["temp_c"]), (97.0, 640.12, 66))

    def test_what_a_gpu_does_not_tell_is_left_out(self):
        second = parse_gpus(TWO_GPUS)[1]
        self.assertNotIn("power_w", second)
        self.assertEqual(second["index"], 1)

    def test_lines_of_another_form_are_skipped(self):
        self.assertEqual(parse_gpus("NVIDIA-SMI has failed because it couldn't communicate\n\n"), [])


class Host(unittest.TestCase):
    def proc(self, files):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        for name, text in files.items():
            path = os.path.join(directory.name, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
        return directory.name

    def test_rates_are_differences_between_two_samples(self):
        net = "Inter-| Receive | Transmit\n face |bytes\n    lo: 9 0 0 0 0 0 0 0 9 0\n  eth0: %d 0 0 0 0 0 0 0 %d 0\n"
        proc = self.proc({"stat": "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1\n", "net/dev": net % (1000, 500)})
        host = HostSampler(proc)
        for name, text in (("stat", "cpu  160 0 140 900 0 0 0 0 0 0\n"), ("net/dev", net % (6000, 700))):
            with open(os.path.join(proc, name), "w") as file:
                file.write(text)
        point = host.sample()
        self.assertEqual(point["cpu_pct"], 50.0)
        self.assertGreater(point["net_rx_bps"], point["net_tx_bps"])

    def test_a_machine_without_proc_still_answers(self):
        self.assertNotIn("cpu_pct", HostSampler("/nonexistent").sample())

    def test_memory_in_use_is_what_is_not_available(self):
        proc = self.proc({"meminfo": "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 400 kB\n"})
        point = HostSampler(proc).sample()
        self.assertEqual((point["mem_total_bytes"], point["mem_used_bytes"]), (1000 * 1024, 600 * 1024))


class Environment(unittest.TestCase):
    def test_only_listed_variables_are_shown(self):
        env = {"NCCL_DEBUG": "WARN", "SERVICE_TOKEN": "fit_1_secret", "HOME": "/root", "WORLD_SIZE": "8"}
        found = picture(env, [])
        self.assertEqual(found["env"], {"NCCL_DEBUG": "WARN", "WORLD_SIZE": "8"})
        self.assertEqual(found["world_size"], 8)
        self.assertNotIn("secret", str({name: found[name] for name in found if name != "packages"}))

    def test_secrets_on_the_command_line_are_masked(self):
        words = ["train.py", "--lr", "0.1", "--hub-token", "hf_x", "--api_key=abc", "--tokenizer=x", "tail"]
        self.assertEqual(
            command_line(words), "train.py --lr 0.1 --hub-token *** --api_key=*** --tokenizer=*** tail"
        )


if __name__ == "__main__":
    unittest.main()
