# SPDX-License-Identifier: GPL-2.0
"""Checks the symbols of Kconfig: complete, turned on in a fragment, used and documented.

One without a prompt is selected by another one, which a user turns on.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..symbols import sourced
from .finding import Finding
from .subject import Subject

NAME = "kconfig"
ENTRY = re.compile(r"^(?:menu)?config\s+(\w+)")
PROMPT = re.compile(r'^\t(?:bool|tristate|int|hex|string) ".+"(.*)$', re.M)
DEPENDS = re.compile(r"^\tdepends on (.+)$", re.M)
HELP = re.compile(r"^\thelp\n((?:\t  .*\n|\n)*)", re.M)
UNSURE = re.compile(r"If unsure, say [YN]\.")
LEAST_HELP_LINES = 4
TEST = "_KUNIT_TEST"


@dataclass(frozen=True)
class Symbol:
    name: str
    file: str
    line: int
    text: str

    @property
    def hidden(self) -> bool:
        return "\n\tbool\n" in self.text


def check(subject: Subject) -> Iterator[Finding]:
    context = _Context(subject)
    found = list(symbols(subject))
    for symbol in found:
        shape = _selected(symbol, found) if symbol.hidden else _shape(symbol)
        for problem in (*shape, *context.problems(symbol)):
            yield Finding(NAME, symbol.file, symbol.line, f"{symbol.name} {problem}")


def symbols(subject: Subject) -> Iterator[Symbol]:
    for path in sourced(subject.layout):
        lines = (subject.layout.root / path).read_text().splitlines()
        starts = [number for number, line in enumerate(lines) if ENTRY.match(line)]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            found = ENTRY.match(lines[start])
            if found:
                yield Symbol(found[1], path, start + 1, "\n".join(lines[start:end]) + "\n")


def _selected(symbol: Symbol, others: Iterable[Symbol]) -> Iterator[str]:
    line = f"\n\tselect {symbol.name}\n"
    if not any(line in other.text for other in others):
        yield "has no prompt, and no other option of ours selects it"


def _shape(symbol: Symbol) -> Iterator[str]:
    prompt = PROMPT.search(symbol.text)
    depends = DEPENDS.search(symbol.text)
    text = HELP.search(symbol.text)
    if not prompt:
        yield "has no type with a prompt"
    if not depends:
        yield "has no `depends on`"
    lines = [line for line in text[1].splitlines() if line.strip()] if text else []
    if len(lines) < LEAST_HELP_LINES or not UNSURE.search(lines[-1]):
        yield f"has no help text of {LEAST_HELP_LINES} lines that ends with `If unsure, say ...`"
    if symbol.name.endswith(TEST):
        if prompt and prompt[1].strip() != "if !KUNIT_ALL_TESTS":
            yield "has a prompt with KUNIT_ALL_TESTS too"
        if "\n\tdefault KUNIT_ALL_TESTS\n" not in symbol.text:
            yield "has no `default KUNIT_ALL_TESTS`"
        if depends and not re.search(r"\bKUNIT=y\b", depends[1]):
            yield "does not depend on KUNIT=y"


class _Context:
    def __init__(self, subject: Subject) -> None:
        diffs = [diff for hook in subject.hooks for diff in hook.diffs]
        added = [(diff.path, line) for diff in diffs for line in diff.added_lines()]
        texts = {
            path: (subject.tree.path / path).read_text(errors="replace") for path in subject.overlay
        }
        root = subject.layout.root
        ours = [root / name for name in ("README.md", "CONTRIBUTING.md")]
        self._documents = [text for path, text in texts.items() if _is_document(path)]
        self._documents += [line for path, line in added if _is_document(path)]
        self._documents += [path.read_text() for path in ours if path.is_file()]
        self._fragments = [text for path, text in texts.items() if path.endswith(".config")]
        self._users = [text for path, text in texts.items() if path.endswith((".c", ".h"))]
        self._users += [line for path, line in added if not _is_document(path)]

    def problems(self, symbol: Symbol) -> Iterator[str]:
        option = re.compile(rf"\bCONFIG_{symbol.name}\b")
        enabled = re.compile(rf"^CONFIG_{symbol.name}=[ym]$", re.M)
        mentioned = re.compile(rf"\b(?:CONFIG_)?{symbol.name}\b")
        if not symbol.hidden:
            if not any(mentioned.search(text) for text in self._documents):
                yield "is mentioned nowhere in Documentation, README or CONTRIBUTING"
            if not any(enabled.search(text) for text in self._fragments):
                yield "is turned on by none of our config fragments"
        if not any(option.search(text) for text in self._users):
            yield "is used by no makefile and no code"


def _is_document(path: str) -> bool:
    return path.startswith("Documentation/")
