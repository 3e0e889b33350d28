# SPDX-License-Identifier: GPL-2.0
"""A reproducible git repository: the same files give the same commits for every author."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import process
from .report import Failure


@dataclass(frozen=True)
class Identity:
    name: str
    email: str


PATCH_LINE = re.compile(r"\.git/rebase-apply/patch:(\d+): (.*)")
NEUTRAL = Identity("Tidemark", "tidemark@localhost")


def identity_of_user(at: Path) -> Identity:
    """The author's name from git's configuration, for mails in that name."""
    values = []
    for key in ("user.name", "user.email"):
        try:
            values.append(process.output(["git", "-C", at, "config", "--get", key]).strip())
        except Failure as error:
            raise Failure(
                f"SIGNOFF=1: git does not know your name; set it with: git config {key} ..."
            ) from error
    return Identity(*values)


class Repository:
    """A work tree whose git ignores all configuration except the options given here.

    The date, in seconds, applies to every commit.
    """

    def __init__(self, top: Path, identity: Identity = NEUTRAL, date: int = 0) -> None:
        self.top = top
        self._env = {
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_SYSTEM": "/dev/null",
            "GIT_AUTHOR_DATE": f"@{date} +0000",
            "GIT_COMMITTER_DATE": f"@{date} +0000",
        }
        for role in ("AUTHOR", "COMMITTER"):
            self._env[f"GIT_{role}_NAME"] = identity.name
            self._env[f"GIT_{role}_EMAIL"] = identity.email
        top.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--template=", "--initial-branch=series")

    def git(self, *arguments: str | Path) -> str:
        options = ("-c", "core.compression=1", "-c", "gc.auto=0", "-c", "safe.directory=*")
        return process.output(["git", *options, *arguments], self.top, self._env)

    def commit(self, message: str) -> str:
        """Commit all files, ignored ones too, and return the commit."""
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "-m", message)
        return self.git("rev-parse", "HEAD").strip()

    def apply_mails(self, patches: Sequence[Path]) -> None:
        """Apply the mails as a maintainer would; bad white space is an error."""
        try:
            self.git("am", "--quiet", "--whitespace=error", *patches)
        except Failure as error:
            told = list(self._with_names(error.detail))
            raise Failure(f"git am rejects the series: {told[0]}", told[1:]) from error

    def _with_names(self, told: Sequence[str]) -> Iterator[str]:
        """Git reports the line in its own copy of the patch; name the file of the tree instead."""
        patch = self.top / ".git" / "rebase-apply" / "patch"
        lines = patch.read_text(errors="replace").splitlines() if patch.exists() else []
        for line in told or ("no reason given",):
            found = PATCH_LINE.match(line)
            before = lines[: int(found[1])] if found else []
            files = [text.removeprefix("+++ b/") for text in before if text.startswith("+++ b/")]
            yield f"{files[-1]}: {found[2]}" if found and files else line

    def export(self, since: str, into: Path, *options: str) -> list[Path]:
        """Write mails of the commits since one, and a cover letter with placeholders."""
        fixed = ("--cover-letter", "--numbered", "--abbrev=12", "--no-signature", "--stat=78,60")
        self.git("format-patch", "--quiet", *fixed, *options, "-o", into, since)
        return sorted(into.glob("*.patch"))
