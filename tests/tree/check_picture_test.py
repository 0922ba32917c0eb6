#!/usr/bin/env python3
"""picture.py says where the picture of the README is another one, or shows a folder that is not there; and the README has it."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv.pop(1) if len(sys.argv) > 1 else str(pathlib.Path(__file__).resolve().parents[2] / "cmake/picture"))
import picture  # noqa: E402


class Picture(unittest.TestCase):
    def test_what_it_draws_is_right(self):
        self.assertEqual(picture.wrong(picture.picture(), picture.ROOT), [])

    def test_another_picture_is_seen(self):
        said = picture.wrong(picture.picture().replace("journal", "diary"), picture.ROOT)
        self.assertEqual(len(said), 1)
        self.assertIn("run cmake/picture/picture.py", said[0])

    def test_a_folder_that_is_not_there_is_seen(self):
        with tempfile.TemporaryDirectory() as empty:
            said = picture.wrong(picture.picture(), pathlib.Path(empty))
        self.assertIn("analyzer/flow: the picture has it, and there is no such folder", said)

    def test_an_arrow_that_no_include_shows_is_seen(self):
        self.assertTrue(picture.is_handed_on(picture.ROOT, "sources", "journal", None))
        self.assertFalse(picture.is_handed_on(picture.ROOT, "rules", "journal", None))
        self.assertFalse(picture.is_handed_on(picture.ROOT, "journal", "symbolize", "analyzer/flow"))

    def test_each_arrow_joins_parts(self):
        for start, end, _, _ in picture.ARROWS:
            self.assertIn(start, picture.PARTS)
            self.assertIn(end, picture.PARTS)

    def test_the_readme_has_it(self):
        page = (picture.ROOT / "README.md").read_text(encoding="utf-8")
        self.assertIn(f"]({picture.FILE.relative_to(picture.ROOT)})", page)


if __name__ == "__main__":
    unittest.main()
