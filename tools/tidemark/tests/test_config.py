# SPDX-License-Identifier: GPL-2.0
"""Config fragments, and whether Kconfig's result has all their options."""

from tidemark import config
from tidemark.report import Failure

from . import fake


class ConfigTest(fake.Case):
    def read(self, *texts: str) -> dict[str, config.Wish]:
        paths = [
            self.write(f"kernel/configs/{number}.config", text) for number, text in enumerate(texts)
        ]
        return config.read(paths, self.layout)

    def verify(self, asked: str, got: str, *excepted: str) -> Failure | None:
        try:
            config.verify(self.read(asked), config.parse(got), excepted)
        except Failure as failure:
            return failure
        return None

    def test_granted(self) -> None:
        asked = 'CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=12\nCONFIG_D="x y"\nCONFIG_E=n\n'
        got = 'CONFIG_A=y\nCONFIG_C=12\nCONFIG_D="x y"\n# CONFIG_E is not set\n'
        self.assertIsNone(self.verify(asked, got))

    def test_not_granted(self) -> None:
        for asked, got, value in (
            ("CONFIG_A=y", "", "nothing"),
            ("CONFIG_A=y", "# CONFIG_A is not set", "n"),
            ("CONFIG_A=m", "CONFIG_A=y", "y"),
            ("# CONFIG_A is not set", "CONFIG_A=y", "y"),
            ("CONFIG_A=64", "CONFIG_A=8", "8"),
        ):
            with self.subTest(asked=asked, got=got):
                failure = self.verify(asked, got)
                assert failure
                self.assert_fails(failure, "CONFIG_A", f"got {value}", "kernel/configs/0.config")

    def test_names_every_option(self) -> None:
        failure = self.verify("CONFIG_A=y\nCONFIG_B=y\nCONFIG_C=y\n", "CONFIG_B=y")
        assert failure
        self.assert_fails(failure, "2 config options", "CONFIG_A")
        self.assertIn("CONFIG_C", failure.detail[0])

    def test_excepted(self) -> None:
        self.assertIsNone(self.verify("CONFIG_A=y", "", "A"))

    def test_later_fragment_wins(self) -> None:
        wishes = self.read("CONFIG_A=y\nCONFIG_B=y\n", "# CONFIG_A is not set\n")
        self.assertEqual(wishes["A"], config.Wish("A", "n", "kernel/configs/1.config"))
        self.assertEqual(config.merged(wishes), "CONFIG_A=n\nCONFIG_B=y\n")

    def test_slips(self) -> None:
        for text in ("CONFIG_A y\n", "A=y\n", "# CONFIG_A is not sett\n", "CONFIG_A=\n"):
            with self.subTest(text=text), self.assertRaises(Failure) as caught:
                self.read("# a comment\n\n" + text)
            self.assert_fails(caught.exception, "kernel/configs/0.config:3")
        with self.assertRaises(Failure) as caught:
            config.read([self.layout.fragments / "absent.config"], self.layout)
        self.assert_fails(caught.exception, "kernel/configs/absent.config")
