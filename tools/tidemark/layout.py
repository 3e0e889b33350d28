# SPDX-License-Identifier: GPL-2.0
"""The paths in the repository and under build/."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """Paths that follow from the repository's root, so that tests can work on another one."""

    root: Path

    @property
    def build(self) -> Path:
        return self.root / "build"

    @property
    def bases(self) -> Path:
        return self.root / "bases"

    @property
    def patches(self) -> Path:
        return self.root / "patches"

    @property
    def cover(self) -> Path:
        return self.patches / "cover.txt"

    @property
    def parts(self) -> Path:
        return self.patches / "parts"

    @property
    def pages(self) -> list[Path]:
        """The cover pages of the whole series and of its parts."""
        return [self.cover, *sorted(self.parts.glob("*.txt"))]

    @property
    def kconfig(self) -> Path:
        return self.root / "Kconfig"

    @property
    def fragments(self) -> Path:
        return self.root / "kernel" / "configs"

    def relative(self, path: Path) -> str:
        """The name of a file in messages, as the user would type it."""
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)


REPOSITORY = Layout(Path(__file__).resolve().parents[2])
