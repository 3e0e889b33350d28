# SPDX-License-Identifier: GPL-2.0
"""Findings: the tools that report them, the allowed ones, and that no hunk is lost unnoticed."""

import argparse
import contextlib
import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from tidemark import lint, packages, process, series, tree
from tidemark.lint import (
    coccinelle,
    finding,
    harness,
    htmldocs,
    kconfig,
    objects,
    patches,
    scripts,
    spelling,
    tool,
)
from tidemark.lint.finding import Finding
from tidemark.lint.subject import Subject
from tidemark.report import Failure

from . import fake

KCONFIG = """\
# SPDX-License-Identifier: GPL-2.0

config OURS
|bool "Ours"
|depends on MEMCG
|help
|  One.
|  Two.
|  Three.

|  If unsure, say N.

config OURS_KUNIT_TEST
|bool "KUnit tests of ours" if !KUNIT_ALL_TESTS
|depends on OURS && KUNIT=y
|default KUNIT_ALL_TESTS
|help
|  One.
|  Two.
|  Three.

|  If unsure, say N.
""".replace("|", "\t")
MAINTAINERS = (
    "Text\n\nOURS\nS:\tMaintained\nF:\tkernel/configs/\nF:\tmm/Kconfig.ours\nF:\tmm/o*.c\n"
)
FRAGMENT = "CONFIG_OURS=y\nCONFIG_OURS_KUNIT_TEST=y\n"
CODE = "#ifdef CONFIG_OURS\n#endif\n#ifdef CONFIG_OURS_KUNIT_TEST\n#endif\n"


class SubjectCase(fake.Case):
    """A repository without findings."""

    def setUp(self) -> None:
        super().setUp()
        self.write("bases/6.12/run.json", fake.RUN)
        self.write("README.md", "OURS, CONFIG_OURS_KUNIT_TEST\n")
        self.write("patches/cover.txt", "Subject: s\n\n@RESULTS@\n@BASE@\n")
        self.write("MAINTAINERS", MAINTAINERS)
        (self.linux / "MAINTAINERS").write_text("1\n2\n3\n")
        self.write("Kconfig", 'source "mm/Kconfig.ours"\n')
        self.kconfig = self.write("mm/Kconfig.ours", KCONFIG)
        self.fragment = self.write("kernel/configs/tidemark.config", FRAGMENT)
        self.write("mm/ours.c", CODE)
        entry = "".join(f"+{line}\n" for line in MAINTAINERS.splitlines()[2:])
        added = entry.count("\n")
        self.hook = self.write_hook(
            "0001-x",
            fake.diff("mm/pages.c", fake.HUNK_10, fake.HUNK_30),
            fake.diff("MAINTAINERS", f"@@ -1,3 +1,{3 + added} @@\n 1\n{entry} 2\n 3\n"),
            overlay=("mm/Kconfig.ours", "kernel/configs/tidemark.config", "mm/ours.c"),
        )

    def subject(self) -> Subject:
        base = self.obtain()
        exported = series.export(base, layout=self.layout)
        prepared = tree.ensure(base, False, self.layout)
        return Subject(base, prepared, exported, self.layout)

    def texts(self, found: Iterator[Finding]) -> list[str]:
        return sorted(map(str, found))

    def script(self, path: str, *told: str, status: int = 0) -> None:
        """Write a tool into the kernel tree that prints this."""
        target = self.linux / "scripts" / path
        target.parent.mkdir(exist_ok=True)
        lines = "".join(f'print "{line}\\n";\n' for line in told)
        target.write_text(f"#!/usr/bin/perl\n{lines}exit {status};\n")
        target.chmod(0o755)


class PatchesTest(SubjectCase):
    def found(self) -> list[str]:
        return self.texts(patches.check(self.subject()))

    def test_nothing_to_find(self) -> None:
        self.assertEqual(self.found(), [])

    def test_each_base_has_a_diff_for_each_patch(self) -> None:
        self.write("bases/7.3/recipe", "")
        there = "patches/0001-x/7.3.diff"
        self.assertEqual(
            self.found(), [f"{there}:0: patches: not there, and no any.diff beside it"]
        )
        self.hook.rename(self.hook.with_name("any.diff"))
        self.assertEqual(self.found(), [])

    def test_two_diffs_with_the_same_changes(self) -> None:
        text = self.hook.read_text()
        moved = text.replace("@@ -27,6 +28,7 @@ function", "@@ -20,6 +21,7 @@")
        self.write("patches/0001-x/7.3.diff", moved.replace(" line 27", " line 0"))
        here = "patches/0001-x/7.3.diff:0: patches: changes the same lines as"
        says = f"{here} patches/0001-x/6.12.diff: make one any.diff of them"
        self.assertEqual(self.found(), [says])
        self.write("patches/0001-x/7.3.diff", text.replace(" line 29", " another"))
        self.assertEqual(self.found(), [])

    def test_a_change_where_the_base_repeats_itself_may_be_there_twice(self) -> None:
        self.write("patches/0001-x/7.3.diff", self.hook.read_text())
        self.assertEqual(len(self.found()), 1)
        pages = self.linux / "mm" / "pages.c"
        pages.write_text(fake.PAGES + "line 29\nline 30\n")
        self.assertEqual(self.found(), [])

    def test_length_of_a_message(self) -> None:
        path = self.hook.with_name("message")
        text = path.read_text()
        path.write_text(text.replace("Why.", "Why.\n" * 25))
        self.assertEqual(self.found(), [])
        path.write_text(text.replace("Why.", "Why.\n" * 26))
        says = "26 lines; a commit message has at most 25"
        self.assertEqual(self.found(), [f"patches/0001-x/message:27: patches: {says}"])

    def test_fragments_that_kconfig_sources(self) -> None:
        self.write("Kconfig", "")
        says = "mm/Kconfig.ours:0: patches: the top-level Kconfig does not source it"
        self.assertEqual(self.found(), [says])

    def test_maintainers(self) -> None:
        self.write("MAINTAINERS", MAINTAINERS.replace("mm/o*.c", "mm/gone.c"))
        found = self.found()
        self.assertIn("MAINTAINERS:7: patches: mm/gone.c: no file of ours is called so", found)
        self.assertIn("mm/ours.c:0: patches: in no entry of MAINTAINERS", found)
        self.write("MAINTAINERS", MAINTAINERS.replace("Maintained", "Supported"))
        self.assertEqual(
            self.found(), ["MAINTAINERS:4: patches: no hook adds this line: 'S:\\tSupported'"]
        )
        (self.layout.root / "MAINTAINERS").unlink()
        self.assertIn("MAINTAINERS:0", self.found()[0])


class KconfigTest(SubjectCase):
    def found(self) -> list[str]:
        return self.texts(kconfig.check(self.subject()))

    def test_nothing_to_find(self) -> None:
        self.assertEqual(self.found(), [])

    def test_each_line_that_says_something_to_kconfig(self) -> None:
        for line, problem in (
            ('\tbool "Ours"\n', "OURS has no type"),
            ("\tdepends on MEMCG\n", "OURS has no `depends on`"),
            ("\thelp\n", "OURS has no help"),
            ("\tdefault KUNIT_ALL_TESTS\n", "OURS_KUNIT_TEST has no `default"),
            (" if !KUNIT_ALL_TESTS", "OURS_KUNIT_TEST has a prompt"),
            (" && KUNIT=y", "OURS_KUNIT_TEST does not depend on KUNIT=y"),
        ):
            self.kconfig.write_text(KCONFIG.replace(line, "", 1))
            found = self.found()
            self.assertEqual(len(found), 1)
            self.assertIn(f"kconfig: {problem}", found[0])
            self.assertTrue(found[0].startswith("mm/Kconfig.ours:"))

    def test_symbol_that_only_others_turn_on(self) -> None:
        hidden = "\nconfig OURS_WAIT\n\tbool\n"
        self.write("mm/ours.c", f"{CODE}#ifdef CONFIG_OURS_WAIT\n#endif\n")
        self.kconfig.write_text(KCONFIG + hidden)
        says = "OURS_WAIT has no prompt, and no other option of ours selects it"
        self.assertEqual(self.found(), [f"mm/Kconfig.ours:24: kconfig: {says}"])
        selecting = KCONFIG.replace("\thelp\n", "\tselect OURS_WAIT\n\thelp\n", 1)
        self.kconfig.write_text(selecting + hidden)
        self.assertEqual(self.found(), [])

    def test_symbol_that_nothing_knows_of(self) -> None:
        self.write("README.md", "")
        self.write("mm/ours.c", "int x;\n")
        self.fragment.write_text("CONFIG_X=y\n")
        self.assertEqual(
            [line for line in self.found() if " OURS " in line],
            [
                "mm/Kconfig.ours:3: kconfig: OURS is mentioned nowhere in Documentation, README or"
                " CONTRIBUTING",
                "mm/Kconfig.ours:3: kconfig: OURS is turned on by none of our config fragments",
                "mm/Kconfig.ours:3: kconfig: OURS is used by no makefile and no code",
            ],
        )


class FiguresTest(SubjectCase):
    def test_a_time_that_was_not_measured(self) -> None:
        self.write("bases/6.12/run.svg", ">1.00 s<>9.00 s<>1.25 s<")
        self.assertEqual(self.texts(lint.figures(self.subject())), [])
        self.write("README.md", "OURS\n\nUnpacking takes 3.3 s.\n")
        found = self.texts(lint.figures(self.subject()))
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith("README.md:3: figures: 3.3 s is not a time"))


class ToolsTest(SubjectCase):
    def test_checkpatch(self) -> None:
        self.script(
            "checkpatch.pl",
            *("mm/ours.c:3: WARNING:TYPE: bad", ":2: ERROR:LOG: long", "total: 1"),
            status=1,
        )
        self.assertEqual(
            self.texts(scripts.checkpatch(self.subject())),
            [
                "0001-mm-x.patch:2: checkpatch: ERROR:LOG: long",
                "mm/ours.c:3: checkpatch: WARNING:TYPE: bad",
            ],
        )

    def test_tool_that_fails(self) -> None:
        self.script("checkpatch.pl", "Cannot do it", status=2)
        with self.assertRaises(Failure) as caught:
            list(scripts.checkpatch(self.subject()))
        self.assert_fails(caught.exception, "perl", "status 2")
        with self.assertRaises(Failure) as caught:
            tool.run(["/nonexistent/tool"], self.scratch)
        self.assert_fails(caught.exception, "not found")

    def test_kernel_doc(self) -> None:
        self.script("kernel-doc", "mm/ours.c:7: warning: no such parameter", status=3)
        self.assertEqual(
            self.texts(scripts.kernel_doc(self.subject())),
            ["mm/ours.c:7: kernel-doc: warning: no such parameter"],
        )

    def test_coccinelle(self) -> None:
        top = self.linux / "scripts" / "coccinelle" / "misc"
        top.mkdir(parents=True)
        (top / "a.cocci").write_text("// Options: --no-includes\nvirtual report\n")
        (top / "b.cocci").write_text("virtual patch\n")
        (top / "c.cocci").write_text("virtual report\n@script:ocaml@\n")
        subject = self.subject()
        with mock.patch.object(tool, "run", return_value="mm/ours.c:1:2-3: bad\n") as run:
            found = self.texts(coccinelle.check(subject))
        self.assertEqual(found, ["mm/ours.c:1: coccinelle: bad (a)"])
        self.assertEqual(run.call_args.args[0][-2:], ["--no-includes", "mm/ours.c"])
        with mock.patch.object(tool, "run", side_effect=Failure("old")):
            self.assertEqual(self.texts(coccinelle.check(subject)), [])

    def test_spelling_of_what_is_ours(self) -> None:
        patch = "Subject: mistake\n---\n\ndiff --git a/x b/x\n@@ -1 +1,2 @@\n upstream's\n+ours\n"
        self.assertEqual(
            spelling.ours(patch).splitlines(), ["Subject: mistake", "---", *[""] * 4, "+ours"]
        )
        with mock.patch.object(tool, "run", return_value="./README.md:1: mistake ==> the\n"):
            found = self.texts(spelling.check(self.subject()))
        self.assertIn("README.md:1: codespell: mistake ==> the", found)

    def test_harness(self) -> None:
        self.write("tools/tidemark/guest/x", "#!/bin/sh\necho\n")
        self.write("tools/tidemark/x.py", "x = 1\n")
        self.write(".ci/run", "#!/usr/bin/env bash\n")
        self.write("tools/tidemark/__pycache__/x.pyc", "#!/bin/sh\n")
        root = self.layout.root
        self.assertEqual(
            [self.layout.relative(path) for path in harness.shell_scripts(self.layout)],
            [".ci/run", "tools/tidemark/guest/x"],
        )
        ruff = (
            '[{"filename": "tidemark/x.py", "location": {"row": 3}, "code": "E1", "message": "m"}]'
        )

        def run(argv: list[str], cwd: Path) -> str:
            return {
                "mypy": "tidemark/x.py:1: error: wrong\n",
                "shellcheck": f"{root}/.ci/run:2:1: note: quote\n",
                "ruff check": ruff,
                "ruff format": "Would reformat: tidemark/x.py\n",
            }[" ".join(argv[:2]) if argv[0] == "ruff" else argv[0]]

        with (
            mock.patch.object(tool, "run", run),
            mock.patch.object(packages, "locate", return_value="ruff"),
        ):
            found = self.texts(harness.check(self.subject()))
        self.assertEqual(
            found,
            [
                ".ci/run:2: shellcheck: note: quote",
                "tools/tidemark/x.py:0: ruff: not as `ruff format` has it",
                "tools/tidemark/x.py:1: mypy: error: wrong",
                "tools/tidemark/x.py:3: ruff: E1 m",
            ],
        )


class ObjectsTest(SubjectCase):
    """Messages of a compiler and of sparse, as the fake makefile prints them."""

    def setUp(self) -> None:
        super().setUp()
        self.write("kernel/configs/tidemark-lean.config", "")
        self.write("kernel/configs/tidemark-vm.config", "CONFIG_X=y\n")
        fragments = ("kernel/configs/tidemark-lean.config", "kernel/configs/tidemark-vm.config")
        self.write_hook("0002-y", overlay=fragments)
        makefile = fake.MAKEFILE + (
            "\nprepare:\n\t@true\n\nmm/pages.o:\n\t@grep -n hook mm/pages.c | "
            "sed 's,^\\([0-9]*\\):.*,$(CURDIR)/mm/pages.c:\\1:2: warning: hooked [-Wx],'\n"
            "\t@echo $(CURDIR)/mm/pages.c:1:5: warning: old\n"
        )
        (self.linux / "Makefile").write_text(makefile)
        (self.linux / "mm" / "Makefile").write_text("obj-y += pages.o\n")
        for target in (
            mock.patch.object(packages, "require"),
            mock.patch.object(packages, "locate", return_value=None),
        ):
            target.start()
            self.addCleanup(target.stop)

    def test_only_what_the_base_does_not_say(self) -> None:
        subject = self.subject()
        expected = [
            "mm/pages.c:10: W=1: hooked [-Wx]",
            "mm/pages.c:31: W=1: hooked [-Wx]",
        ]
        self.assertEqual(self.texts(objects.check(subject)), expected)
        shutil.rmtree(self.layout.build / "kernel" / "6.12-linux-lint-pristine")
        self.assertEqual(self.texts(objects.check(subject)), expected)
        self.assertFalse((self.layout.build / "kernel" / "6.12-linux-lint-pristine").exists())


class HtmldocsTest(SubjectCase):
    def test_directories(self) -> None:
        paths = ["Documentation/mm/a.rst", "Documentation/admin-guide/sysctl/b.rst", "mm/c/d.c"]
        self.assertEqual(htmldocs.directories(paths), ["admin-guide", "mm"])
        self.assertEqual(htmldocs.directories(["Documentation/index.rst"]), [])

    def test_nothing_to_build(self) -> None:
        self.assertEqual(self.texts(htmldocs.check(self.subject())), [])

    def test_only_what_the_base_does_not_say(self) -> None:
        (self.linux / "Documentation" / "mm").mkdir(parents=True)
        (self.linux / "Documentation" / "mm" / "index.rst").write_text("1\n2\n")
        self.write("Documentation/mm/ours.rst", "x\n")
        self.write_hook("0002-y", overlay=("Documentation/mm/ours.rst",))
        subject = self.subject()
        asked = []

        def run(argv: list[str], cwd: Path, **_: object) -> str:
            asked.append(argv)
            told = f"{cwd}/Documentation/mm/index.rst:2: WARNING: old, {cwd}/x\n"
            told += "/other/a.rst:1: WARNING: x\n"
            if cwd == subject.tree.path:
                told += f"{cwd}/Documentation/mm/ours.rst:1: ERROR: bad\n"
                told += f"{cwd}/Documentation/mm/ours.rst: WARNING: not in any toctree\n"
            return told

        expected = [
            "Documentation/mm/ours.rst:0: htmldocs: not in any toctree",
            "Documentation/mm/ours.rst:1: htmldocs: bad",
        ]
        with (
            mock.patch.object(tool, "run", run),
            mock.patch.object(process, "output", return_value="sphinx-build 5\n"),
            mock.patch.object(packages, "require"),
        ):
            self.assertEqual(self.texts(htmldocs.check(subject)), expected)
            self.assertEqual(self.texts(htmldocs.check(subject)), expected)
        self.assertEqual(len(asked), 3)
        self.assertIn("SPHINXDIRS=mm", asked[0])


class ReportTest(SubjectCase):
    def test_allowed(self) -> None:
        path = self.write("allowed.txt", "# x\n\ntool | mm/* | ^a+$ | why\n")
        allowed = finding.read_allowed(path)
        a, b, c = Finding("tool", "mm/x.c", 1, "aa"), Finding("tool", "fs/x.c", 1, "aa"), None
        c = Finding("other", "mm/x.c", 1, "aa")
        self.assertEqual(finding.split([b, a, a, c], allowed), ([c, b], [a]))

    def test_allowed_without_a_reason(self) -> None:
        for line in ("tool | * | x |", "tool | * | x", "tool | * | ( | why"):
            path = self.write("allowed.txt", f"{line}\n")
            with self.assertRaises(Failure) as caught:
                finding.read_allowed(path)
            self.assert_fails(caught.exception, "allowed.txt:1")

    def test_the_list_in_use_is_well_formed(self) -> None:
        self.assertTrue(finding.read_allowed(lint.ALLOWED))

    def test_status_and_last_line(self) -> None:
        bad = [Finding("tool", "x", 1, "bad")]
        for found, status, lines in (
            (bad[1:], 0, ["0 findings"]),
            (bad, 1, ["x:1: tool: bad", "1 finding"]),
        ):
            told = io.StringIO()
            with contextlib.redirect_stdout(told):
                self.assertEqual(lint.report_findings(found), status)
            self.assertEqual(told.getvalue().splitlines(), lines)

    def test_unknown_check(self) -> None:
        args = argparse.Namespace(pristine=False, only="nonsense")
        with self.assertRaises(Failure) as caught:
            lint.main(args)
        self.assert_fails(caught.exception, "nonsense", "checkpatch")
