import unittest

from forge.alerts import alert_report

from .test_api import AWAY, run_script


class Alerts(unittest.TestCase):
    def test_long_and_odd_texts_are_made_to_fit(self):
        report = alert_report("t\0" + "x" * 300, "error", "\ud800" + "y" * 20_000)
        self.assertEqual(report["title"], "t" + "x" * 199)
        self.assertEqual((report["text"][:2], len(report["text"])), ("?y", 10_000))
        self.assertEqual((alert_report(KeyError("a"), "info", None)["title"], alert_report("a", "info", None)["text"]), ("'a'", ""))

    def test_no_title_is_none(self):
        for title in (None, "", " "):
            with self.assertRaisesRegex(ValueError, "needs a title"):
                alert_report(title, "info", "")

    def test_levels_may_be_written_as_those_of_logging(self):
        levels = [alert_report("a", level, "")["level"] for level in ("warn", "WARNING", "Error", "INFO")]
        self.assertEqual(levels, ["warn", "warn", "error", "info"])

    def test_each_has_an_id_of_its_own(self):
        ids = {alert_report("same", "warn", "")["report_id"] for _ in range(100)}
        self.assertEqual(len(ids), 100)

    def test_what_is_wrong_with_one_ends_no_training(self):
        script = """
            import forge
            forge.init()
            forge.alert("")
            forge.alert("a", level="loud")
            forge.alert("fine", text="told")
            forge.finish(timeout=0.1)
        """
        code, _, err, left = run_script(script, **AWAY)
        self.assertEqual(code, 0, err)
        self.assertIn("alert not raised", err)
        self.assertNotEqual(left, [], "the valid alert waits to be sent")


if __name__ == "__main__":
    unittest.main()
