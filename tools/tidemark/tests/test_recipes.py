# SPDX-License-Identifier: GPL-2.0
"""The recipes that guest/debian/recipes.py finds in a page, and how it runs them."""

import contextlib
import io
import textwrap
from unittest import mock

from tidemark import debian
from tidemark.layout import REPOSITORY

from . import fake

SCRIPT = debian.HERE / "recipes.py"

recipes = fake.load_program(SCRIPT)
PAGE = """\
Title
=====

A block before the first recipe::

	# reboot

.. tested: unit

Some words about ``/etc/a.conf``::

	[Service]

	X=%n

And commands::

	# true
	# echo a \\
	  b
	a
	...
	$ id

.. end

Not of it::

	# reboot

.. without: unit

::

	# false || echo no
	no

.. tested: quadlet, with /no/such/file

::

	# reboot

.. always: prepare

::

	# true
"""


class ParseTest(fake.Case):
    def setUp(self) -> None:
        super().setUp()
        self.found = recipes.parse(PAGE)

    def test_kinds_and_names(self) -> None:
        found = [(recipe.kind, recipe.name, recipe.needs) for recipe in self.found]
        self.assertEqual(
            found,
            [
                ("tested", "unit", ""),
                ("without", "unit", ""),
                ("tested", "quadlet", "/no/such/file"),
                ("always", "prepare", ""),
            ],
        )

    def test_files_and_commands(self) -> None:
        self.assertEqual(
            self.found[0].steps,
            [
                recipes.File("/etc/a.conf", "[Service]\n\nX=%n\n"),
                recipes.Command("true", False, ""),
                recipes.Command("echo a \\\n  b", False, "a\n..."),
                recipes.Command("id", True, ""),
            ],
        )

    def test_choice(self) -> None:
        def names(unpatched: bool, only: str) -> list[str]:
            return [recipe.name for recipe in recipes.chosen([PAGE], unpatched, only)]

        self.assertEqual(names(False, ""), ["unit", "quadlet", "prepare"])
        self.assertEqual(names(False, "quadlet"), ["quadlet", "prepare"])
        self.assertEqual(names(True, ""), ["unit", "prepare"])

    def test_a_recipe_that_goes_on_takes_the_others_along(self) -> None:
        page = "".join(
            f".. tested: {name}\n\n::\n\n\t# true\n\n"
            for name in ("a", "other", "b, after a", "c, after b")
        )
        found = recipes.chosen([page], False, "c")
        self.assertEqual([recipe.name for recipe in found], ["a", "b", "c"])

    def test_unpatched_kernel_gets_the_files_of_the_recipe(self) -> None:
        recipe = recipes.chosen([PAGE], True, "")[0]
        self.assertEqual([type(step).__name__ for step in recipe.steps], ["File", "Command"])

    def test_output(self) -> None:
        for expected, output, same in (
            ("a", "a\n", True),
            ("a", "ab\n", False),
            ("...b", "a\nb\n", True),
            ("a ... c", "a b\n c\n", True),
            ("a.c", "abc", False),
        ):
            with self.subTest(expected=expected, output=output):
                self.assertEqual(recipes.matches(expected, output), same)


class RunTest(fake.Case):
    def results(self, page: str) -> list[str]:
        found = recipes.parse(textwrap.dedent(page))
        with contextlib.redirect_stdout(io.StringIO()) as said:
            status = recipes.report(found)
        lines = said.getvalue().splitlines()
        self.assertEqual(lines[-1] == "not ok 1 debian", bool(status))
        return [line.strip() for line in lines[5:-1]]

    def page(self, *commands: str) -> str:
        lines = "".join(f"\t{line}\n" for line in commands)
        return f".. tested: x\n\n::\n\n{lines}"

    def setUp(self) -> None:
        super().setUp()
        home = mock.patch.object(recipes, "HOME", str(self.scratch))
        home.start()
        self.addCleanup(home.stop)

    def test_passes(self) -> None:
        self.assertEqual(self.results(self.page("# true", "# echo a b", "a b")), ["ok 1 x"])

    def test_other_output(self) -> None:
        found = self.results(self.page("# echo a", "b", "# echo not reached >&2"))
        self.assertEqual(found, ["# # echo a", "# printed:", "# a", "not ok 1 x"])

    def test_status_counts_without_output(self) -> None:
        found = self.results(self.page("# echo a; exit 3"))
        self.assertEqual(found, ["# # echo a; exit 3", "# status 3, printed:", "# a", "not ok 1 x"])
        self.assertEqual(self.results(self.page("# echo a; exit 3", "a")), ["ok 1 x"])

    def test_skipped(self) -> None:
        page = ".. tested: q, with /no/such/file\n\n::\n\n\t# false\n"
        self.assertEqual(self.results(page), ["ok 1 q # SKIP no /no/such/file"])


class PagesTest(fake.Case):
    def test_names_are_distinct_and_recipes_do_something(self) -> None:
        texts = [page.read_text() for page in (REPOSITORY.root / debian.PAGE, debian.TESTS[-1])]
        found = [recipe for text in texts for recipe in recipes.parse(text)]
        names = [(recipe.kind, recipe.name) for recipe in found]
        self.assertEqual(sorted(set(names)), sorted(names))
        self.assertTrue(all(recipe.steps for recipe in found))
