# SPDX-License-Identifier: GPL-2.0
"""The prose in a file: comments, strings, help texts and paragraphs, without code and quoted code.

Each reader returns the text with everything else blanked, so that a line keeps its number.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import PurePath

from . import prose_python

Reader = Callable[[str], str]

C_TOKEN = re.compile(
    r"""(?P<comment>/\*.*?(?:\*/|\Z)|//[^\n]*)|(?P<string>"(?:\\.|[^"\\\n])*")|'(?:\\.|[^'\\\n])*'""",
    re.S,
)
MARKUP = re.compile(r"^[ \t]*(?:/\*+|\*+/?|//)|\*+/", re.M)
QUOTE = re.compile(r"\\.|\"|%[-+#0 ]*[\d.*]*(?:ll|l|z|h)?[a-zA-Z]")
INLINE_CODE = re.compile(r"``[^`]+``|`[^`\n]+`|\]\([^)\s]*\)")
HASH = re.compile(r"(?:^|(?<=\s))#+(?!!)(.*)|\becho\s+(?:'([^']*)'|\"((?:\\.|[^\"\\])*)\")", re.M)
HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
BEGINS_IN_COMMENT = re.compile(r"(?:(?!/\*).)*?\*/", re.S)
TRAILER = re.compile(r"^(?!Subject: )[A-Z][A-Za-z]*(?:-[a-z]+)*: \S+.*$", re.M)
LITERAL = re.compile(r"^(?!\s*\.\. ).*::\s*$|^\s*\.\. (?:code-block|kernel-doc|literalinclude)::")
SPDX = re.compile(r".*SPDX-License-Identifier.*")


def read(path: str, text: str) -> str:
    """The prose of a file: none if it is of no kind that has prose."""
    reader = _reader(path, text)
    if not reader:
        return _blank(text)
    return INLINE_CODE.sub(lambda code: _blank(code[0]), SPDX.sub("", reader(text)))


def _reader(path: str, text: str) -> Reader | None:
    name = PurePath(path)
    if name.suffix == ".py":
        return prose_python.test if "tests" in name.parts else prose_python.module
    if name.name.startswith("Kconfig"):
        return _kconfig
    if name.suffix == ".txt" and name.parts[0] != "patches":
        return None
    if text.startswith("#!") or name.name in ("Makefile", "config", "settings"):
        return _hash
    return READERS.get(name.suffix) or READERS.get(name.name)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _select(text: str, kept: Iterable[tuple[int, int, str]]) -> str:
    """The text with all but these spans blanked, each of which has its replacement."""
    parts, end = [], 0
    for start, stop, instead in kept:
        parts += [_blank(text[end:start]), instead]
        end = stop
    return "".join([*parts, _blank(text[end:])])


def _c(text: str) -> str:
    """Comments, and strings of more than one word."""
    spans = []
    for token in C_TOKEN.finditer(text):
        if token["comment"]:
            spans.append((*token.span(), MARKUP.sub("", token[0])))
        elif token["string"] and " " in token["string"]:
            spans.append((*token.span(), QUOTE.sub(" ", token["string"])))
    return _select(text, spans)


def _kconfig(text: str) -> str:
    """Help texts and comments."""
    kept: list[str] = []
    least = 0
    for line in text.split("\n"):
        expanded = line.expandtabs()
        indent = len(expanded) - len(expanded.lstrip())
        if line.strip() and indent < least:
            least = 0
        kept.append(line if least or line.startswith("#") else "")
        if line.strip() == "help":
            least = indent + 1
    return "\n".join(kept)


def _hash(text: str) -> str:
    """Comments of shell and make, and the strings that they print."""
    spans = []
    for found in HASH.finditer(text):
        group = found.lastindex or 0
        spans.append((*found.span(group), found[group]))
    return _select(text, spans)


def _rst(text: str) -> str:
    """Without literal blocks."""
    kept: list[str] = []
    literal = None
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        if literal is not None and line.strip() and indent <= literal:
            literal = None
        kept.append("" if literal is not None else line)
        if literal is None and LITERAL.match(line):
            literal = indent
    return "\n".join(kept)


def _markdown(text: str) -> str:
    """Without quotations, and code that is fenced or indented."""
    kept: list[str] = []
    fenced = False
    for line in text.split("\n"):
        fence = line.lstrip().startswith("```")
        fenced ^= fence
        code = fence or fenced or line.startswith(("    ", "\t", "> "))
        kept.append("" if code else line)
    return "\n".join(kept)


def _message(text: str) -> str:
    """A commit message without its trailers."""
    return TRAILER.sub("", _markdown(text))


def _diff(text: str) -> str:
    """The prose of added lines only: the others are upstream's."""
    kept: list[str] = []
    path, hunk = "", list[str]()
    for line in [*text.split("\n"), "diff --git"]:
        if hunk and not line.startswith(("+", "-", " ", "\\")):
            kept += _added(path, hunk)
            hunk = []
        if hunk or HUNK.match(line):
            hunk.append(line)
        else:
            path = line.removeprefix("+++ b/") if line.startswith("+++ b/") else path
            kept.append("")
    return "\n".join(kept[:-1])


def _added(path: str, hunk: list[str]) -> list[str]:
    new = ["" if line.startswith(("@@", "-", "\\")) else line[1:] for line in hunk]
    if path.endswith((".c", ".h")) and BEGINS_IN_COMMENT.match("\n".join(new)):
        new[0] = "/*"
    # A hunk of Python is not all of a module.
    prose = read(path.removesuffix(".py"), "\n".join(new)).split("\n")
    return [text if line.startswith("+") else "" for line, text in zip(hunk, prose, strict=True)]


READERS: dict[str, Reader] = {
    ".c": _c,
    ".config": _hash,
    ".diff": _diff,
    ".h": _c,
    ".md": _markdown,
    ".mk": _hash,
    ".rst": _rst,
    ".txt": _message,
    "message": _message,
}
