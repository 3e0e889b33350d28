# SPDX-License-Identifier: GPL-2.0
"""A package from a later suite: apt itself works, on a small signed archive of files."""

import hashlib
import shutil
import subprocess
from pathlib import Path
from unittest import mock

from tidemark import archive, base, packages, process
from tidemark.report import Failure

from . import fake

SUITE = "later-backports"
RECIPE = "package = linux-fake\ntarball = usr/src/x.tar.xz\nsuite = later-backports\nchecked = 1\n"
TARGETS = """\
https://mirror/security|Debian|Debian-Security|main|Packages|/etc/apt/sources.list:4|stable-security
https://other/apt|Docker|Docker CE|stable|Packages|/etc/apt/sources.list:5|stable
https://mirror/debian|Debian|Debian|main|DEP-11|/etc/apt/sources.list:1|stable
https://mirror/debian|Debian|Debian|main|Packages|/etc/apt/sources.list:1|stable
"""


class ArchiveTest(fake.Case):
    """The machine's own sources do not know the package."""

    def setUp(self) -> None:
        super().setUp()
        self.repository = self.scratch / "debian"
        self.keys = self.scratch / "keys"
        self.keys.mkdir(mode=0o700)
        self.gpg("--quick-gen-key", "archive", "ed25519", "sign", "never")
        stop: list[str | Path] = ["gpgconf", "--homedir", self.keys, "--kill", "all"]
        self.addCleanup(process.attempt, stop, self.scratch)
        keyring = self.scratch / "archive.gpg"
        keyring.write_bytes(self.gpg("--export"))
        self.write("bases/6.12/recipe", RECIPE)
        self.publish("6.12.99-1~bpo1")
        found = archive.Mirror(f"file:{self.repository}", str(keyring))
        self.mirror = self.stand_in(archive, "mirror", mock.Mock(return_value=found))
        self.stand_in(packages, "installed_version", lambda _: None)
        self.stand_in(packages, "known", lambda _: False)
        # The tests must not depend on the rights that a sandbox gives to apt.
        self.stand_in(archive, "working", mock.MagicMock())

    def stand_in(self, module: object, name: str, value: object) -> object:
        patch = mock.patch.object(module, name, value)
        patch.start()
        self.addCleanup(patch.stop)
        return value

    def gpg(self, *arguments: str, text: str = "") -> bytes:
        options = ("--homedir", self.keys, "--batch", "--quiet", "--passphrase", "")
        return subprocess.run(
            ["gpg", *options, *arguments], input=text.encode(), check=True, capture_output=True
        ).stdout

    def publish(self, version: str) -> None:
        """Have an archive with one suite, and one package in it."""
        shutil.rmtree(self.repository, ignore_errors=True)
        content = self.scratch / "content"
        (content / "DEBIAN").mkdir(parents=True)
        control = f"Package: linux-fake\nVersion: {version}\nArchitecture: all\n"
        (content / "DEBIAN" / "control").write_text(
            f"{control}Maintainer: A <a@b.c>\nDescription: x\n"
        )
        (content / "usr" / "src").mkdir(parents=True)
        tarball = content / "usr" / "src" / "x.tar.xz"
        subprocess.run(["tar", "-C", self.scratch, "-cJf", tarball, "linux"], check=True)
        self.deb = self.repository / "pool" / f"linux-fake_{version}_all.deb"
        self.deb.parent.mkdir(parents=True)
        process.output(["dpkg-deb", "-b", content, self.deb])
        shutil.rmtree(content)
        data = self.deb.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        file = f"Filename: pool/{self.deb.name}\nSize: {len(data)}\nSHA256: {digest}\n"
        self.index(f"{control}{file}")

    def index(self, listing: str) -> None:
        suite = self.repository / "dists" / SUITE
        path = "main/binary-amd64/Packages"
        (suite / path).parent.mkdir(parents=True, exist_ok=True)
        (suite / path).write_text(listing)
        digest = hashlib.sha256(listing.encode()).hexdigest()
        release = (
            f"Origin: Debian\nLabel: Debian\nSuite: {SUITE}\nCodename: {SUITE}\n"
            "Date: Thu, 01 Jan 2026 00:00:00 UTC\nArchitectures: all amd64\nComponents: main\n"
            f"SHA256:\n {digest} {len(listing)} {path}\n"
        )
        (suite / "InRelease").write_bytes(self.gpg("--clearsign", text=release))

    def obtain_packaged(self) -> base.Base:
        return base.obtain("6.12", layout=self.layout)

    def assert_refused(self, *parts: str) -> Failure:
        """The message names the package and the alternatives; no file is left."""
        with self.assertRaises(Failure) as caught:
            self.obtain_packaged()
        self.assert_fails(caught.exception, "linux-fake", SUITE, "LINUX=", *parts)
        left = [path for path in (self.layout.build / "archive").glob("**/*") if path.is_file()]
        self.assertEqual(left, [])
        self.assertFalse((self.layout.build / "base").exists())
        return caught.exception

    def test_is_unpacked_and_needs_no_package(self) -> None:
        self.assertEqual(base.required_packages("6.12", None, self.layout), [])
        found = self.obtain_packaged()
        self.assertEqual((found.path / "mm" / "pages.c").read_text(), fake.PAGES)
        self.assertEqual(found.package_version, "6.12.99-1~bpo1")
        self.assertEqual(found.path.name, "6.12-6.12.99-1~bpo1")
        self.assertEqual(
            [path.name for path in (self.layout.build / "archive").iterdir()], ["linux-fake"]
        )

    def test_second_time_takes_no_network(self) -> None:
        first = self.obtain_packaged()
        shutil.rmtree(self.repository)
        self.mirror.side_effect = AssertionError  # type: ignore[attr-defined]
        self.assertEqual(self.obtain_packaged(), first)
        shutil.rmtree(first.path)
        self.assertEqual(self.obtain_packaged(), first)

    def test_the_machines_own_package_comes_first(self) -> None:
        self.stand_in(packages, "installed_version", lambda _: "6.12.1-1")
        self.assertEqual(base.required_packages("6.12", None, self.layout), ["linux-fake"])
        self.stand_in(packages, "installed_version", lambda _: None)
        self.stand_in(packages, "known", lambda _: True)
        self.assertEqual(base.required_packages("6.12", None, self.layout), ["linux-fake"])

    def test_package_that_has_gone(self) -> None:
        self.index("")
        self.assert_refused("not in the archive", "6.12.y")

    def test_suite_that_has_gone(self) -> None:
        shutil.rmtree(self.repository / "dists" / SUITE)
        self.assert_refused(SUITE)

    def test_archive_out_of_reach(self) -> None:
        found = archive.Mirror("http://localhost:9/debian", "")
        self.stand_in(archive, "mirror", lambda: found)
        failure = self.assert_refused("cannot be read")
        self.assertTrue(failure.detail)

    def test_other_signature(self) -> None:
        suite = self.repository / "dists" / SUITE
        release = (suite / "InRelease").read_text()
        (suite / "InRelease").write_text(release.replace("Label: Debian", "Label: Debien"))
        self.assert_refused("cannot be read")

    def test_other_content(self) -> None:
        data = self.deb.read_bytes()
        self.deb.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        self.assert_refused("download failed")

    def test_package_without_the_tarball(self) -> None:
        self.write("bases/6.12/recipe", RECIPE.replace("x.tar.xz", "y.tar.xz"))
        with self.assertRaises(Failure) as caught:
            self.obtain_packaged()
        self.assert_fails(caught.exception, "y.tar.xz")


class MirrorTest(fake.Case):
    def test_site_and_keyring_of_the_main_archive(self) -> None:
        with (
            mock.patch.object(process, "output", return_value=TARGETS),
            mock.patch.object(archive, "signed_by", return_value="/k") as asked,
        ):
            self.assertEqual(archive.mirror(), archive.Mirror("https://mirror/debian", "/k"))
        asked.assert_called_once_with("/etc/apt/sources.list:1")

    def test_own_sources(self) -> None:
        with (
            mock.patch.object(process, "output", return_value=TARGETS),
            mock.patch.object(archive, "signed_by", return_value="/k"),
        ):
            main, security = archive.own_sources().split("\n\n")
        self.assertIn("URIs: https://mirror/debian\nSuites: stable\nComponents: main\n", main)
        self.assertIn("URIs: https://mirror/security\nSuites: stable-security\n", security)
        self.assertIn("\nSigned-By: /k", main)

    def test_empty_lists_are_filled_once(self) -> None:
        with (
            mock.patch.object(process, "output", return_value=""),
            mock.patch.object(packages, "refresh") as refresh,
            self.assertRaises(Failure) as caught,
        ):
            archive.mirror()
        refresh.assert_called_once_with()
        self.assert_fails(caught.exception, "no Debian archive")

    def entry(self, name: str, text: str, number: int) -> str:
        path = Path(self.scratch / name)
        path.write_text(text)
        return archive.signed_by(f"{path}:{number}")

    def test_keyring_of_a_paragraph(self) -> None:
        text = "# of old\n\nTypes: deb\n# x\nURIs: a\nSigned-By: /a.gpg\n\n\nTypes: deb\n"
        self.assertEqual(self.entry("x.sources", text, 1), "/a.gpg")
        self.assertEqual(self.entry("x.sources", text, 2), "")

    def test_key_in_the_source_itself(self) -> None:
        key = "\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n -----END-----"
        text = f"Types: deb\nSigned-By:{key}\nURIs: a\n"
        self.assertEqual(self.entry("x.sources", text, 1), key)

    def test_keyring_of_a_line(self) -> None:
        text = "# x\ndeb [arch=amd64 signed-by=/a.gpg,/b.gpg] a b main\ndeb a b main\n"
        self.assertEqual(self.entry("sources.list", text, 2), "/a.gpg,/b.gpg")
        self.assertEqual(self.entry("sources.list", text, 3), "")
