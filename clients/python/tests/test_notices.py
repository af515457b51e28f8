import unittest

from forge.notices import INTERVAL_S, MOST_TEXTS, TEXTS_PER_KIND, Notices


class Limits(unittest.TestCase):
    def setUp(self):
        self.told, self.now = [], 0.0
        self.notices = Notices(write=self.told.append, clock=lambda: self.now)

    def test_the_same_problem_is_told_once_a_minute_with_its_count(self):
        for _ in range(5):
            self.notices.report("values not logged", 2, "loss: str")
        self.assertEqual(self.told, ["forge: values not logged (2): loss: str"])
        self.now = INTERVAL_S
        self.notices.report("values not logged", 2, "loss: str")
        self.assertEqual(self.told[1:], ["forge: values not logged (10): loss: str"])

    def test_another_problem_of_the_same_kind_is_seen_at_once(self):
        self.notices.report("values not logged", 1, "loss: str is not a number")
        self.notices.report("values not logged", 1, "acc: a bool is not a metric")
        self.assertEqual(len(self.told), 2)
        self.assertIn("acc", self.told[1])

    def test_a_text_that_is_always_another_fills_neither_the_screen_nor_the_memory(self):
        for number in range(10_000):
            self.notices.report("values not logged", 1, "loss%d: str" % number)
        self.assertEqual(len(self.told), TEXTS_PER_KIND + 1)
        self.now = INTERVAL_S
        self.notices.report("values not logged", 1, "the newest")
        counted = 10_001 - TEXTS_PER_KIND - 1
        self.assertEqual(self.told[-1], "forge: values not logged (%d): the newest" % counted)

    def test_also_over_many_kinds(self):
        for kind in range(MOST_TEXTS):
            for number in range(TEXTS_PER_KIND):
                self.notices.report("kind %d" % kind, 1, "text %d" % number)
        self.assertLessEqual(len(self.told), 2 * MOST_TEXTS)

    def test_what_was_counted_and_not_told_is_told_at_the_end(self):
        for _ in range(3):
            self.notices.report("points dropped")
        self.notices.flush()
        self.assertEqual(self.told, ["forge: points dropped (1)", "forge: points dropped (2)"])


if __name__ == "__main__":
    unittest.main()
