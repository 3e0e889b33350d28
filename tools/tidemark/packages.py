# SPDX-License-Identifier: GPL-2.0
"""The Debian packages that the harness needs: root installs them, other users get the command."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from . import process
from .report import Failure, progress

SYSTEM_PATHS = ("/usr/local/sbin", "/usr/sbin", "/sbin")


@dataclass(frozen=True)
class Tool:
    """A package, and a command that it installs, unless only dpkg can tell."""

    package: str
    command: str = ""
    optional: bool = False


CANDIDATE = re.compile(r"^(\S+):\n  Installed: .*\n  Candidate: (?!\(none\))", re.M)

TOOLS = {
    "autoconf": Tool("autoconf", "autoconf"),
    "automake": Tool("automake", "automake"),
    "bc": Tool("bc", "bc"),
    "bison": Tool("bison", "bison"),
    "bsdextrautils": Tool("bsdextrautils", "column"),
    "btrfs-progs": Tool("btrfs-progs", "mkfs.btrfs"),
    "build-essential": Tool("build-essential"),
    "busybox": Tool("busybox-static"),
    "bzip2": Tool("bzip2", "bzip2"),
    "ccache": Tool("ccache", "ccache", optional=True),
    "coccinelle": Tool("coccinelle", "spatch"),
    "codespell": Tool("codespell", "codespell"),
    "cpio": Tool("cpio", "cpio"),
    "debhelper": Tool("debhelper", "dh"),
    "dosfstools": Tool("dosfstools", "mkfs.vfat"),
    "dpkg-dev": Tool("dpkg-dev", "dpkg-buildpackage"),
    "dwarves": Tool("dwarves", "pahole"),
    "e2fsprogs": Tool("e2fsprogs", "mke2fs"),
    "fakeroot": Tool("fakeroot", "fakeroot"),
    "fio": Tool("fio", "fio"),
    "flex": Tool("flex", "flex"),
    "g++": Tool("g++", "g++"),
    "gcc": Tool("gcc", "gcc"),
    "gcc-arm64": Tool("gcc-aarch64-linux-gnu", "aarch64-linux-gnu-gcc"),
    "git": Tool("git", "git"),
    "gnupg": Tool("gnupg", "gpg"),
    "iperf3": Tool("iperf3", "iperf3"),
    "kmod": Tool("kmod", "depmod"),
    "libacl1-dev": Tool("libacl1-dev"),
    "libaio-dev": Tool("libaio-dev"),
    "libattr1-dev": Tool("libattr1-dev"),
    "libc-dev": Tool("libc6-dev"),
    "libdw-dev": Tool("libdw-dev"),
    "libelf-dev": Tool("libelf-dev"),
    "libsqlite3-dev": Tool("libsqlite3-dev"),
    "libssl-dev": Tool("libssl-dev"),
    "libtool": Tool("libtool"),
    "m4": Tool("m4", "m4"),
    "make": Tool("make", "make"),
    "matplotlib": Tool("python3-matplotlib"),
    "mmdebstrap": Tool("mmdebstrap", "mmdebstrap"),
    "mypy": Tool("mypy", "mypy"),
    "openssh-client": Tool("openssh-client", "ssh"),
    "openssl": Tool("openssl", "openssl"),
    "patch": Tool("patch", "patch"),
    "perl": Tool("perl", "perl"),
    "pkgconf": Tool("pkgconf", "pkg-config"),
    "procps": Tool("procps", "pgrep"),
    "qemu": Tool("qemu-system-x86", "qemu-system-x86_64"),
    "rsync": Tool("rsync", "rsync"),
    "shellcheck": Tool("shellcheck", "shellcheck"),
    "sparse": Tool("sparse", "sparse"),
    "sphinx": Tool("python3-sphinx"),
    "stress-ng": Tool("stress-ng", "stress-ng"),
    "tar": Tool("tar", "tar"),
    "uidmap": Tool("uidmap", "newuidmap"),
    "uuid-dev": Tool("uuid-dev"),
    "xfslibs-dev": Tool("xfslibs-dev"),
    "xfsprogs": Tool("xfsprogs", "mkfs.xfs"),
    "xz": Tool("xz-utils", "xz"),
    "yaml": Tool("python3-yaml"),
    "zstd": Tool("zstd", "zstd"),
}


def locate(command: str) -> str | None:
    """Find a command also outside the PATH of ordinary users, such as mke2fs."""
    search = os.pathsep.join([os.environ.get("PATH", os.defpath), *SYSTEM_PATHS])
    return shutil.which(command, path=search)


def installed_version(package: str) -> str | None:
    return _installed([package]).get(package)


def known(package: str) -> bool:
    """Whether the machine's package lists have it."""
    return bool(locate("apt-cache")) and not _unknown([package])


def require(tools: Iterable[str], packages: Sequence[str] = ()) -> None:
    """Install these tools (keys of TOOLS) and packages, or tell the user how to install them.

    As root, install all missing packages at once, the optional tools too.
    """
    wanted = [TOOLS[name] for name in dict.fromkeys(tools)]
    absent = [tool for tool in wanted if not (tool.command and locate(tool.command))]
    asked = [tool.package for tool in absent if not tool.command]
    installed = _installed([*asked, *packages])
    missing = [tool for tool in absent if tool.command or tool.package not in installed]
    names = [tool.package for tool in missing if not tool.optional]
    names += [name for name in packages if name not in installed]
    if _is_root():
        names += [tool.package for tool in missing if tool.optional]
        if names:
            _install(names)
    elif names:
        raise Failure(
            f"missing packages: {', '.join(names)}; as root, run: "
            f"apt-get install --no-install-recommends {' '.join(names)}"
        )


def refresh() -> None:
    """Update the package lists of the machine's sources."""
    if not _is_root():
        raise Failure("the machine's package lists are empty or old; as root, run: apt-get update")
    progress("updating the package lists ...")
    if _apt_get("-qq", "update"):
        raise Failure("apt-get update failed")


def _is_root() -> bool:
    return os.geteuid() == 0


def _installed(packages: Sequence[str]) -> dict[str, str]:
    if not packages or not locate("dpkg-query"):
        return {}
    shown = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status} ${Version}\n", *packages],
        env=process.environment(),
        capture_output=True,
        text=True,
    ).stdout
    rows = (line.split() for line in shown.splitlines())
    return {row[0]: row[2] for row in rows if len(row) == 3 and row[1] == "installed"}


def _install(packages: Sequence[str]) -> None:
    if not locate("apt-get"):
        raise Failure(
            f"this machine has no apt-get to install the missing packages: {', '.join(packages)}"
        )
    refreshed = False
    if _unknown(packages):
        refresh()
        refreshed = True
        if unknown := _unknown(packages):
            raise Failure(f"packages that this machine's apt does not know: {', '.join(unknown)}")
    progress(f"installing packages: {' '.join(packages)} ...")
    command = ("-qq", "install", "--yes", "--no-install-recommends", *packages)
    if _apt_get(*command) == 0:
        return
    if not refreshed:
        progress("installation failed; retrying with fresh package lists")
        refresh()
        if _apt_get(*command) == 0:
            return
    raise Failure(f"apt-get could not install: {' '.join(packages)}")


def _unknown(packages: Sequence[str]) -> list[str]:
    policy = process.output(["apt-cache", "policy", *packages])
    offered = CANDIDATE.findall(policy)
    return [name for name in packages if name not in offered]


def _apt_get(*arguments: str) -> int:
    """Keeps the caller's environment, where a proxy may be set; nothing goes to stdout."""
    return subprocess.run(
        ["apt-get", "-o", "DPkg::Lock::Timeout=300", "-o", "Dpkg::Use-Pty=0", *arguments],
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
    ).returncode
