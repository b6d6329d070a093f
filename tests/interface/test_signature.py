"""Signed manifests: what is signed, who can check it, and what every damage and wrong key leads to."""

from __future__ import annotations

import base64
import json
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

import shoal as library
from shoal.errors import FileError, UsageError, VerificationError
from tests.command import Shoal, folder_of

ASKED = ("-k", 2, "--qi", "größe,sex")
MANIFEST = "out.csv.manifest.json"
FRAME = pl.DataFrame({"größe": [1, 2, 5, 6], "sex": ["f", "f", '"m', '"m']})


@pytest.fixture
def folder(shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two pairs of keys, a table and its signed release."""
    monkeypatch.chdir(tmp_path)
    FRAME.write_csv("data.csv")
    for name in ("lab", "other"):
        assert shoal("keygen", name).code == 0
    ended = shoal("anonymize", "data.csv", "-o", "out.csv", *ASKED, "--sign-key", "lab.pem")
    assert ended.code == 0, ended.err
    return tmp_path


def verified(shoal: Shoal, key: str = "lab.pub.pem") -> tuple[int, str]:
    ended = shoal("verify", "out.csv", *ASKED, "--public-key", key)
    return ended.code, ended.err


def changed(change: Callable[[dict[str, Any]], object]) -> None:
    """Change the manifest as somebody without the key can."""
    content = json.loads(Path(MANIFEST).read_text())
    change(content)
    Path(MANIFEST).write_text(json.dumps(content, indent=1))


def test_signed_release_passes_however_its_manifest_is_laid_out(shoal: Shoal, folder: Path) -> None:
    """D04: blanks and the order of keys are not part of what is signed."""
    assert verified(shoal)[0] == 0
    changed(lambda content: content.update({key: content.pop(key) for key in sorted(content, reverse=True)}))
    assert verified(shoal)[0] == 0
    ended = shoal("verify", "out.csv", "--public-key", "lab.pub.pem")
    assert (ended.code, "signed with the key of lab.pub.pem" in ended.out) == (0, True), "the manifest says the rest"


DAMAGES: dict[str, Callable[[], object]] = {
    "k": lambda: changed(lambda content: content.update(k=3)),
    "a nested figure": lambda: changed(lambda content: content["measures"].update(ncp=0.0)),
    "a hash beside": lambda: changed(lambda content: content["beside"].update({"out.csv.dictionary.md": "0" * 64})),
    "a field added": lambda: changed(lambda content: content.update(note="approved")),
    "a field removed": lambda: changed(lambda content: content.pop("seed")),
    "the name of the key": lambda: changed(lambda content: content["signing_key"].update(sha256="0" * 64)),
    "signature removed": lambda: changed(lambda content: content.pop("signature")),
    "signature null": lambda: changed(lambda content: content.update(signature=None)),
    "signature a number": lambda: changed(lambda content: content.update(signature=5)),
    "signature an object": lambda: changed(lambda content: content.update(signature={"value": content["signature"]})),
    "signature not base64": lambda: changed(lambda content: content.update(signature="ä" + content["signature"])),
    "signature too short": lambda: changed(lambda content: content.update(signature=content["signature"][:40])),
    "signature of zeros": lambda: changed(lambda c: c.update(signature=base64.b64encode(bytes(64)).decode())),
    "no manifest": lambda: Path(MANIFEST).unlink(),
    "the file": lambda: Path("out.csv").write_text(Path("out.csv").read_text().replace(",f", ",g")),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_manifest_or_file_fails(shoal: Shoal, folder: Path, damage: str) -> None:
    before = folder_of(folder)
    DAMAGES[damage]()
    assert folder_of(folder) != before
    code, text = verified(shoal)
    assert code == 5, text
    assert "signature" in text or "hash" in text or "manifest" in text


@pytest.mark.parametrize("content", ["", "[]", "[" * 100_000, '{"signature": "x"'])
def test_manifest_that_cannot_be_read_is_bad_input(shoal: Shoal, folder: Path, content: str) -> None:
    Path(MANIFEST).write_text(content)
    assert verified(shoal)[0] == 3
    assert "manifest" in verified(shoal)[1]


def test_without_manifest_nothing_is_signed(shoal: Shoal, folder: Path) -> None:
    """Whatever else is asked: the answer is no, not a question for k."""
    Path(MANIFEST).unlink()
    assert verified(shoal)[0] == 5
    ended = shoal("verify", "out.csv", "--public-key", "lab.pub.pem")
    assert (ended.code, "there is no manifest beside the file" in ended.err) == (5, True)
    with pytest.raises(VerificationError, match="there is no manifest beside the file"):
        library.verify("out.csv", public_key="lab.pub.pem")


def test_key_and_release_belong_together(shoal: Shoal, folder: Path) -> None:
    """A signature by another key, or of another release, says nothing about this one."""
    code, text = verified(shoal, "other.pub.pem")
    assert (code, "another key signed it" in text) == (5, True)
    signature = json.loads(Path(MANIFEST).read_text())["signature"]
    words = ("anonymize", "data.csv", "-o", "out.csv", *ASKED, "--sign-key", "lab.pem", "--seed", 5, "--force")
    assert shoal(*words).code == 0
    assert verified(shoal)[0] == 0
    changed(lambda content: content.update(signature=signature))
    assert verified(shoal)[0] == 5


def test_unsigned_release_passes_without_a_key_and_fails_with_one(shoal: Shoal, folder: Path) -> None:
    assert shoal("anonymize", "data.csv", "-o", "out.csv", *ASKED, "--force").code == 0
    assert "signature" not in json.loads(Path(MANIFEST).read_text())
    assert shoal("verify", "out.csv", *ASKED).code == 0
    code, text = verified(shoal)
    assert (code, "is not signed" in text) == (5, True)


def test_openssl_and_a_few_lines_check_it(folder: Path) -> None:
    """The recipe of the documentation, for receivers without shoal."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    page = (Path(__file__).parents[2] / "docs" / "guides" / "sign.md").read_text()
    recipe = page.split("```py\n")[1].split("```")[0]
    command = page.split("```sh\n")[1].split("```")[0]
    subprocess.run([sys.executable, "-c", recipe], check=True)
    ended = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert "Verified Successfully" in ended.stdout, ended.stderr
    Path("signed.json").write_bytes(Path("signed.json").read_bytes().replace(b'"k":2', b'"k":3'))
    assert subprocess.run(command, shell=True, capture_output=True).returncode != 0


def pem(key: Any, password: bytes | None = None) -> bytes:
    encryption = NoEncryption() if password is None else BestAvailableEncryption(password)
    return bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption))


def public_pem(key: Any) -> bytes:
    return bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


MADE = ed25519.Ed25519PrivateKey.generate()
CURVE, RSA = ec.generate_private_key(ec.SECP256R1()), rsa.generate_private_key(65537, 2048)
PRIVATE: dict[str, tuple[bytes, str]] = {
    "public": (public_pem(MADE), "is a public key"),
    "encrypted": (pem(MADE, b"password"), "is encrypted"),
    "a curve": (pem(CURVE), "is not an Ed25519 key"),
    "rsa": (pem(RSA), "is not an Ed25519 key"),
    "empty": (b"", "is not a private key"),
    "text": (b"secret\n", "is not a private key"),
    "raw bytes": (bytes(range(32)), "is not a private key"),
    "cut": (pem(MADE)[:60], "is not a private key"),
    "large": (b"x" * 70_000, "is larger than 65,536 bytes"),
}
PUBLIC: dict[str, tuple[bytes, str]] = {
    "private": (pem(MADE), "is a private key"),
    "a curve": (public_pem(CURVE), "is not an Ed25519 key"),
    "empty": (b"", "is not a public key"),
    "cut": (public_pem(MADE)[:50], "is not a public key"),
    "binary": (bytes(range(256)), "is not a public key"),
}


@pytest.mark.parametrize("fault", PRIVATE)
def test_wrong_private_keys_are_refused(shoal: Shoal, folder: Path, fault: str) -> None:
    """O02: before the work, with what the file is and what to do."""
    content, told = PRIVATE[fault]
    Path("wrong.pem").write_bytes(content)
    before = folder_of(folder)
    ended = shoal("anonymize", "data.csv", "-o", "new.csv", *ASKED, "--sign-key", "wrong.pem")
    assert (ended.code, told in ended.err) == (2, True), ended.err
    assert folder_of(folder) == before


@pytest.mark.parametrize("fault", PUBLIC)
def test_wrong_public_keys_are_refused(shoal: Shoal, folder: Path, fault: str) -> None:
    content, told = PUBLIC[fault]
    Path("wrong.pem").write_bytes(content)
    code, text = verified(shoal, "wrong.pem")
    assert (code, told in text) == (2, True), text


def test_absent_keys_and_folders_are_errors_of_files(shoal: Shoal, folder: Path) -> None:
    ended = shoal("anonymize", "data.csv", "-o", "new.csv", *ASKED, "--sign-key", "absent.pem")
    assert (ended.code, "cannot be read" in ended.err) == (6, True)
    assert verified(shoal, "absent.pem")[0] == 6
    assert verified(shoal, ".")[0] == 6
    assert shoal("keygen", "no/lab").code == 6
    assert not Path("new.csv").exists()


def test_open_secrets_are_noted(shoal: Shoal, folder: Path) -> None:
    Path("lab.pem").chmod(0o644)
    ended = shoal("anonymize", "data.csv", "-o", "new.csv", *ASKED, "--sign-key", "lab.pem")
    assert ended.code == 0
    assert "lab.pem: other users of this machine can read or change this secret; run chmod 600 on it" in ended.err


def test_signature_needs_a_file(shoal: Shoal, folder: Path) -> None:
    ended = shoal("anonymize", "data.csv", "-o", "-", *ASKED, "--sign-key", "lab.pem")
    assert (ended.code, ended.out) == (2, "")
    assert "a signature is over the hash of a file" in ended.err


def test_keygen_never_replaces_a_key(shoal: Shoal, folder: Path) -> None:
    before = folder_of(folder)
    ended = shoal("keygen", "lab")
    assert (ended.code, "exists already" in ended.err) == (6, True)
    Path("other.pem").unlink()
    assert shoal("keygen", "other.pem").code == 6, "the public key is still there"
    assert folder_of(folder) == {name: content for name, content in before.items() if name != "other.pem"}


def test_keygen_says_what_it_made(shoal: Shoal, folder: Path) -> None:
    content = json.loads(shoal("keygen", folder / "third.pem", "--json").out)
    assert [Path(content[name]).name for name in ("private_key", "public_key")] == ["third.pem", "third.pub.pem"]
    assert stat.S_IMODE(Path(content["private_key"]).stat().st_mode) == 0o600
    shoal("anonymize", "data.csv", "-o", "new.csv", *ASKED, "--sign-key", "third.pem")
    assert json.loads(Path("new.csv.manifest.json").read_text())["signing_key"]["sha256"] == content["sha256"]
    ended = shoal("keygen")
    assert ended.code == 0
    assert re.search(r"SHA-256: [0-9a-f]{64}\. It names the key", ended.out)
    assert Path("key.pem").exists()
    assert Path("key.pub.pem").exists()


def test_without_the_extra_the_command_that_installs_it_is_told(
    shoal: Shoal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    told = "signatures need cryptography, which is not installed: pip install 'shoal[sign]'"
    for words in (
        ("keygen", "new"),
        ("anonymize", "data.csv", "-o", "new.csv", *ASKED, "--sign-key", "lab.pem"),
        ("verify", "out.csv", *ASKED, "--public-key", "lab.pub.pem"),
    ):
        ended = shoal(*words)
        assert (ended.code, told in ended.err) == (2, True), ended.err
    assert shoal("anonymize", "data.csv", "-o", "new.csv", *ASKED).code == 0


def test_python_signs_and_checks(folder: Path) -> None:
    release = library.anonymize(FRAME, qi=["größe", "sex"], k=2)
    release.write("py.csv", sign_key="lab.pem", signoff={"who": "Me"})
    assert library.verify("py.csv", qi=["größe", "sex"], k=2, public_key=Path("lab.pub.pem")).ok
    with pytest.raises(VerificationError, match="another key signed it"):
        library.verify("py.csv", qi=["größe", "sex"], k=2, public_key="other.pub.pem")
    with pytest.raises(UsageError, match="checks the signature of a file"):
        library.verify(release.text, qi=["größe", "sex"], k=2, public_key="lab.pub.pem")
    with pytest.raises(FileError, match="cannot be read"):
        release.write("new.csv", sign_key="absent.pem")


@pytest.mark.parametrize("size", [0, 1, 15])
def test_short_secrets_are_refused(shoal: Shoal, folder: Path, size: int) -> None:
    """D04: the keyed hash of a small table can be tried out if the key can."""
    Path("key").write_bytes(b"s" * size)
    before = folder_of(folder)
    ended = shoal("anonymize", "data.csv", "-o", "new.csv", *ASKED, "--key-file", "key")
    assert (ended.code, f"the key has {size} bytes" in ended.err) == (2, True), ended.err
    with pytest.raises(UsageError, match="Use at least 16 random bytes"):
        library.anonymize(FRAME, qi=["größe", "sex"], k=2).write("new.csv", key=b"s" * size)
    assert folder_of(folder) == before
    Path("key").write_bytes(b"s" * 16)
    assert shoal("anonymize", "data.csv", "-o", "new.csv", *ASKED, "--key-file", "key").code == 0
