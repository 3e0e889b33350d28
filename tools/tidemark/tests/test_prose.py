# SPDX-License-Identifier: GPL-2.0
"""Lint's prose check: the text that counts, and the bounds."""

from tidemark.layout import REPOSITORY
from tidemark.lint import prose, prose_text
from tidemark.report import Failure

from . import fake

PLAIN = "The writer waits for the flusher, and the flusher waits for the disk.\n"
WHO = "Nothing is known of the one who waits.\n"
DIFF = """\
diff --git a/mm/pages.c b/mm/pages.c
--- a/mm/pages.c
+++ b/mm/pages.c
@@ -7,4 +7,6 @@ function
  * Upstream's task, who waits.
+ * Ours is
+ * throttled.
  */
-	/* who */
+	who(); /* added */
"""


class ProseCase(fake.Case):
    def setUp(self) -> None:
        super().setUp()
        self.readme = self.write("README.md", PLAIN)
        self.write("tools/tidemark/x.py", "")

    def found(self) -> list[str]:
        return [str(finding) for finding in prose.findings(self.layout)]


class RateTest(ProseCase):
    def test_plain_text(self) -> None:
        self.assertEqual(self.found(), [])

    def test_a_file_may_use_a_construction_at_twice_the_rate(self) -> None:
        self.readme.write_text(PLAIN + WHO)
        self.assertEqual(self.found(), [])
        self.readme.write_text(PLAIN + 2 * WHO)
        self.assertEqual(len(self.found()), 1)
        says = "README.md:2: prose: who: 2, twice upstream's rate allows 1: lines 2, 3; write"
        self.assertIn(says, self.found()[0])
        self.readme.write_text(400 * PLAIN + 2 * WHO)
        self.assertEqual(self.found(), [])

    def test_a_private_word_is_not_allowed_once(self) -> None:
        for text in (
            "That is the short\nway.",
            "It comes to 3.",
            "A write is cut off.",
            "A posting.",
        ):
            self.readme.write_text(PLAIN + text)
            self.assertIn("README.md:2: prose: private: 1,", self.found()[0])

    def test_what_with_a_noun_or_in_a_question(self) -> None:
        self.readme.write_text(PLAIN + "It asked what value to take. What is\nit? What kind?\n" * 3)
        self.assertEqual(self.found(), [])
        self.readme.write_text(PLAIN + "It takes what is left. Whatever is left.\n")
        self.assertIn("README.md:2: prose: what: 2,", self.found()[0])

    def test_the_base_is_the_harness_own_word(self) -> None:
        self.readme.write_text(PLAIN + "It is applied to the base.\n")
        self.assertEqual(self.found(), [])
        self.write(
            "patches/0001-x/message", "Subject: x\n\nIt is so on the\nbase, at the base page.\n"
        )
        self.assertIn("patches/0001-x/message:3: prose: kernel: 1,", self.found()[0])


class TextTest(fake.Case):
    def prose(self, path: str, text: str) -> str:
        read = prose_text.read(path, text)
        self.assertEqual(read.count("\n"), text.count("\n"))
        return " ".join(read.split())

    def test_c(self) -> None:
        text = '/* One\n * two. */\nwho("who", \'w\', "is %d\\n"); // three\n'
        self.assertEqual(self.prose("mm/ours.c", text), "One two. is three")

    def test_python(self) -> None:
        text = '"""One\ntwo."""\nwho = "who"  # three\nwho(f"is {who}")\n'
        self.assertEqual(self.prose("tools/tidemark/x.py", text), "One two. three is _")
        self.assertEqual(self.prose("tools/tidemark/tests/x.py", text), "One two. three")

    def test_kconfig(self) -> None:
        text = 'config WHO\n\tbool "who"\n\thelp\n\t  One.\n\n\t  Two.\n\nconfig WHAT\n'
        self.assertEqual(self.prose("mm/Kconfig.ours", text), "One. Two.")

    def test_shell_and_make(self) -> None:
        text = "#!/bin/sh\n# One.\nwho ${x##*/} $# # two\necho 'three'\n"
        self.assertEqual(self.prose(".ci/run", text), "One. two three")
        self.assertEqual(self.prose("Makefile", "who: ## one\n\t@who 'two'\n"), "one")

    def test_paragraphs(self) -> None:
        rst = "One `who`::\n\n  who\n\n  who\n\ntwo\n\n.. note::\n\n  three\n"
        self.assertEqual(self.prose("Documentation/x.rst", rst), "One :: two .. note:: three")
        markdown = "One\n\n    who\n\n```\nwho\n```\ntwo [three](who.md)\n"
        self.assertEqual(self.prose("README.md", markdown), "One two [three")
        message = "Subject: one\n\nTwo.\n\nOverlay: mm/who.c\n"
        self.assertEqual(self.prose("patches/0001-x/message", message), "Subject: one Two.")

    def test_diff_has_added_comments_only(self) -> None:
        self.assertEqual(self.prose("patches/0001-x/any.diff", DIFF), "Ours is throttled. added")

    def test_no_prose(self) -> None:
        self.assertEqual(self.prose("bases/6.12/results.json", '{"who": "is it"}\n'), "")
        of_table = "diff --git a/x.tbl b/x.tbl\n+++ b/x.tbl\n@@ -1 +1,2 @@\n a\n+who b\n"
        self.assertEqual(self.prose("patches/0001-x/any.diff", of_table), "")


class PatternsTest(fake.Case):
    def test_those_of_the_project(self) -> None:
        names = {pattern.name for pattern in prose.read_patterns(prose.PATTERNS)}
        self.assertEqual(names, {"who", "nobody", "what", "private", "kernel"})

    def test_a_bad_line(self) -> None:
        for line in ("who", "who | x | who | w", "who | 1 | wh(o | w"):
            with self.assertRaisesRegex(Failure, "patterns:1: "):
                prose.read_patterns(self.write("tools/patterns", f"{line}\n"))

    def test_the_repository(self) -> None:
        """Text of each kind of file is found."""
        uses = prose.uses(REPOSITORY)
        for file in ("README.md", "mm/memcg_dirty.c", "tools/tidemark/vm.py", "patches/cover.txt"):
            self.assertIn(file, uses)
