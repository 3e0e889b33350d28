#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs the recipes of a page of documentation, and prints their results as KTAP.

A comment in the page begins a recipe; the next comment or title ends it:

  .. tested: NAME                 for the patched kernel
  .. tested: NAME, with PATH      the same, skipped where there is no such file
  .. tested: NAME, after OTHER    the same, which goes on where the other has ended
  .. without: NAME                for the unpatched kernel
  .. always: NAME                 for both: others need it

The literal blocks that follow are files, if the paragraph before names a path, or
else commands.  A line that begins with "# " is a command of root and one with "$ "
a user's; the lines below it are its output, where "..." stands for any text.  A
command without output must succeed.  A recipe for the unpatched kernel begins with
the files of its namesake.
"""

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HOME = "/root"
USER = "user"
USER_ID = 1000
SECONDS = 300
COMMENT = re.compile(
    r"\.\. (?P<kind>tested|without|always): (?P<name>[\w-]+)"
    r"(?:, with (?P<path>\S+)|, after (?P<after>[\w-]+))?"
)
TITLE = re.compile(r"([=\-~])\1{3,}")
FILE = re.compile(r"``(?P<path>[/~]\S+)``")
PROMPTS = ("# ", "$ ")


@dataclass(frozen=True)
class Command:
    """A line with a prompt, and the output that the page shows for it."""

    line: str
    as_user: bool
    expected: str


@dataclass
class Recipe:
    """Files and commands, in the order of the page."""

    name: str
    kind: str
    needs: str = ""
    after: str = ""
    steps: "list[Command | File]" = field(default_factory=list)


@dataclass(frozen=True)
class File:
    """A file that the page gives in full; ~ is the home of the user."""

    path: str
    text: str


def parse(text: str) -> list[Recipe]:
    """All recipes of a page."""
    recipes: list[Recipe] = []
    current: Recipe | None = None
    for paragraph, block in _paragraphs(text.splitlines()):
        first = paragraph[0]
        if found := COMMENT.fullmatch(first):
            needs, after = found["path"] or "", found["after"] or ""
            current = Recipe(found["name"], found["kind"], needs, after)
            recipes.append(current)
        elif first.startswith(".. ") or any(TITLE.fullmatch(line) for line in paragraph):
            current = None
        elif current and block:
            current.steps += _steps(" ".join(paragraph), block)
    return recipes


def _paragraphs(lines: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Paragraphs, each with the literal block below it, if it has one."""
    at = 0
    while at < len(lines):
        paragraph: list[str] = []
        while at < len(lines) and lines[at].strip():
            paragraph.append(lines[at].strip())
            at += 1
        block: list[str] = []
        if paragraph and paragraph[-1].endswith("::"):
            while at < len(lines) and (not lines[at] or lines[at][0].isspace()):
                block.append(lines[at])
                at += 1
        else:
            at += 1
        if paragraph:
            yield paragraph, _outdented(block)


def _outdented(block: Sequence[str]) -> list[str]:
    text = [line.expandtabs() for line in block]
    margin = min((len(line) - len(line.lstrip()) for line in text if line), default=0)
    return "\n".join(line[margin:] for line in text).strip("\n").splitlines()


def _steps(paragraph: str, block: Sequence[str]) -> Iterator[Command | File]:
    if not block[0].startswith(PROMPTS):
        if named := FILE.search(paragraph):
            yield File(named["path"], "\n".join(block) + "\n")
        return
    at = 0
    while at < len(block):
        start = at
        while block[at].endswith("\\"):
            at += 1
        at += 1
        line = "\n".join(block[start:at])
        said: list[str] = []
        while at < len(block) and not block[at].startswith(PROMPTS):
            said.append(block[at])
            at += 1
        yield Command(line[2:], line.startswith("$"), "\n".join(said))


def matches(expected: str, output: str) -> bool:
    parts = [re.escape(part) for part in expected.strip().split("...")]
    return re.fullmatch(".*".join(parts), output.strip(), re.S) is not None


def write(file: File) -> None:
    home = Path("/home") / USER
    mine = file.path.startswith("~/")
    path = home / file.path[2:] if mine else Path(file.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(file.text)
    while mine and path != home:
        os.chown(path, USER_ID, USER_ID)
        path = path.parent


def run(command: Command) -> str:
    """Return the problem, or nothing."""
    argv = ["sh", "-c", command.line]
    if command.as_user:
        # Only a unit is in the subtree that the user's systemd may change. What the command
        # leaves behind, such as conmon, lives on.
        unit = ["systemd-run", "--user", "--pipe", "--wait", "--quiet", "--collect"]
        unit += [f"--working-directory=/home/{USER}", "--property=KillMode=process"]
        runtime = f"XDG_RUNTIME_DIR=/run/user/{USER_ID}"
        argv = ["runuser", "-u", USER, "--", "env", runtime, *unit, *argv]
    try:
        done = subprocess.run(
            argv,
            cwd=HOME,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            text=True,
            errors="replace",
        )
    except subprocess.TimeoutExpired as error:
        return f"took more than {SECONDS} s\n{error.output or ''}"
    if command.expected:
        return "" if matches(command.expected, done.stdout) else f"printed:\n{done.stdout}"
    return f"status {done.returncode}, printed:\n{done.stdout}" if done.returncode else ""


def attempt(recipe: Recipe) -> list[str]:
    """Run all steps, up to one that goes wrong; return its output."""
    for step in recipe.steps:
        if isinstance(step, File):
            write(step)
        elif problem := run(step):
            prompt = "$" if step.as_user else "#"
            return [*f"{prompt} {step.line}".splitlines(), *problem.splitlines()]
    return []


def chosen(pages: Sequence[str], unpatched: bool, only: str) -> list[Recipe]:
    """The recipes for this kernel, those for an unpatched one with the files of the others."""
    found = [recipe for page in pages for recipe in parse(page)]
    tested = {recipe.name: recipe for recipe in found if recipe.kind == "tested"}
    names = only.split(",") if only else [recipe.name for recipe in found]
    # Those that a recipe goes on from stand before it.
    for recipe in reversed(found):
        if recipe.after and recipe.name in names:
            names.append(recipe.after)
    result = []
    for recipe in found:
        if recipe.kind == "without":
            twin = tested.get(recipe.name, recipe)
            recipe.needs = twin.needs
            recipe.steps = [*filter(lambda step: isinstance(step, File), twin.steps), *recipe.steps]
        wanted = recipe.kind == ("without" if unpatched else "tested") and recipe.name in names
        if wanted or recipe.kind == "always":
            result.append(recipe)
    return result


def report(recipes: Sequence[Recipe]) -> int:
    def say(line: str) -> None:
        print(line, flush=True)

    failed = 0
    say(f"KTAP version 1\n1..1\n    KTAP version 1\n    # Subtest: debian\n    1..{len(recipes)}")
    for number, recipe in enumerate(recipes, 1):
        line = f"ok {number} {recipe.name}"
        if recipe.needs and not Path(recipe.needs).exists():
            say(f"    {line} # SKIP no {recipe.needs}")
            continue
        problem = attempt(recipe)
        for text in problem:
            say(f"    # {text}")
        failed += bool(problem)
        say(f"    {'not ' if problem else ''}{line}")
    say(f"{'not ' if failed else ''}ok 1 debian")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the recipes of pages of documentation.")
    parser.add_argument("--unpatched", action="store_true", help="those for such a kernel")
    parser.add_argument("--only", default="", help="some of them, with commas")
    parser.add_argument("pages", nargs="+", type=Path)
    args = parser.parse_args()
    return report(chosen([page.read_text() for page in args.pages], args.unpatched, args.only))


if __name__ == "__main__":
    sys.exit(main())
