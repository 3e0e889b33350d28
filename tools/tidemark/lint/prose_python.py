# SPDX-License-Identifier: GPL-2.0
"""The prose in Python: comments, docstrings and strings."""

import ast
import io
import tokenize


def module(text: str) -> str:
    """Comments, docstrings, and strings of more than one word."""
    return _read(text, True)


def test(text: str) -> str:
    """Comments and docstrings: the other strings of a test are data."""
    return _read(text, False)


def _read(text: str, strings: bool) -> str:
    lines: list[list[str]] = [[] for _ in range(text.count("\n") + 2)]
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            lines[token.start[0]].append(token.string.lstrip("#!"))
    collected = _Strings(strings)
    collected.visit(ast.parse(text))
    for line, string in collected.found:
        for number, part in enumerate(string.rstrip("\n").split("\n"), line):
            # A string may have more lines than its source.
            lines[min(number, len(lines) - 1)].append(part)
    return "\n".join(" ".join(parts) for parts in lines[1:])


class _Strings(ast.NodeVisitor):
    def __init__(self, strings: bool) -> None:
        self.strings = strings
        self.found: list[tuple[int, str]] = []

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            self.found.append((node.lineno, node.value.value))
        else:
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if self.strings and isinstance(node.value, str) and " " in node.value:
            self.found.append((node.lineno, node.value))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """The placeholders of a string are no words."""
        parts = [part.value if isinstance(part, ast.Constant) else "_" for part in node.values]
        self.visit_Constant(ast.Constant("".join(map(str, parts)), lineno=node.lineno))
