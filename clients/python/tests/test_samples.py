import json
import math
import unittest

from forge.samples import SAMPLE_BYTES_PER_REQUEST, SAMPLES_PER_REQUEST, sample_pieces


class Pieces(unittest.TestCase):
    def test_a_large_round_is_cut_at_the_count_the_service_takes(self):
        pieces = sample_pieces({"user": str(index), "reward": index} for index in range(1201))
        self.assertEqual([len(piece) for piece in pieces], [SAMPLES_PER_REQUEST, SAMPLES_PER_REQUEST, 201])
        rewards = [json.loads(text)["reward"] for piece in pieces for text in piece]
        self.assertEqual(rewards, list(range(1201)))

    def test_and_at_its_size(self):
        pieces = sample_pieces({"assistant": "x" * 1_000_000} for _ in range(20))
        self.assertEqual(sum(map(len, pieces)), 20)
        self.assertLessEqual(max(sum(map(len, piece)) for piece in pieces), SAMPLE_BYTES_PER_REQUEST)

    def test_a_round_without_samples_is_one_piece(self):
        self.assertEqual(sample_pieces([]), [[]])

    def test_fields_that_the_service_does_not_know_become_part_of_extra(self):
        samples = [{"user": "u", "prompt": 1}, {"prompt": 1, "extra": {"prompt": 2, "a": 3}}, {"prompt": 1, "extra": "e"}, {"extra": "e"}]
        (texts,) = sample_pieces(samples)
        self.assertEqual(
            [json.loads(text) for text in texts],
            [
                {"user": "u", "extra": {"prompt": 1}},
                {"extra": {"prompt": 2, "a": 3}},
                {"extra": {"prompt": 1, "extra": "e"}},
                {"extra": "e"},
            ],
        )

    def test_values_json_does_not_know_are_given_as_words(self):
        ((text,),) = sample_pieces([{"reward": math.nan, "extra": {"scores": [1, math.inf], "tool": {1}}}])
        self.assertEqual(json.loads(text), {"reward": "NaN", "extra": {"scores": [1, "Infinity"], "tool": "{1}"}})


if __name__ == "__main__":
    unittest.main()
