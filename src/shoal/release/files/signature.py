"""Secrets and signatures of a release: the key of the input's hash, and an Ed25519 signature in the manifest.

The signature is over the canonical bytes of the manifest without its field "signature": JSON in UTF-8, keys sorted by
code point, no blanks, letters as they are. The verifier has a check of its own.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import FileError, Note, UsageError, file_path, setting
from shoal.tables.targets.text_file import TextFiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["SigningKey", "about_open_files", "check_secret", "make_pair", "read_secret", "sign"]

ALGORITHM = "Ed25519"
LEAST_BYTES = 16  # of a secret; shorter ones can be found by trying
MOST_BYTES = 1 << 16  # of a key file


@dataclass(frozen=True)
class SigningKey:
    """The private key of a signature, as plain bytes, so that it can be pickled."""

    seed: bytes = field(repr=False)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> SigningKey:
        """Read a private Ed25519 key from a PEM file.

        Raises:
            UsageError: The file is not such a key, or the package for signatures is not installed.
            FileError: The file cannot be read.
        """
        content = _read(Path(path))
        key = _load(content, Path(path))
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        return cls(key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption()))

    @property
    def fingerprint(self) -> str:
        """The SHA-256 hash of the public key (its 32 bytes), which names the key in the manifest."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        return hashlib.sha256(self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()

    def sign(self, message: bytes) -> str:
        """Return the signature of a message in Base64."""
        return base64.b64encode(self._key.sign(message)).decode()

    @property
    def _key(self) -> Ed25519PrivateKey:
        return _ed25519().Ed25519PrivateKey.from_private_bytes(self.seed)  # type: ignore[no-any-return]


def sign(content: Mapping[str, Any], key: SigningKey) -> dict[str, Any]:
    """Return a manifest with the name of the key and the signature over everything else."""
    named = {**content, "signing_key": {"algorithm": ALGORITHM, "sha256": key.fingerprint}}
    return {**named, "signature": key.sign(canonical(named))}


def canonical(content: Mapping[str, Any]) -> bytes:
    """Return the bytes that a signature is over."""
    plain = json.loads(json.dumps(content))  # tuples as lists, as a reader of the file finds them
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def make_pair(private: Path, public: Path) -> SigningKey:
    """Write a new pair of keys as PEM files, the private one for its owner only; never replace a file.

    Raises:
        UsageError: The package for signatures is not installed.
        FileError: A file exists already or cannot be written.
    """
    made = _ed25519().Ed25519PrivateKey.generate()
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

    pair = {
        private: made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
        public: made.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode(),
    }
    for path in pair:
        if os.path.lexists(path):
            raise FileError(
                f"{path}: exists already. A key is never replaced, because nobody could check what it signed; name "
                "another."
            )
    with TextFiles(pair) as files:
        files.write(pair, public=[public])
    return SigningKey(made.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption()))


def read_secret(path: str | os.PathLike[str]) -> bytes:
    """Read the secret that keys the hash of the input.

    Raises:
        UsageError: It is too short.
        FileError: The file cannot be read.
    """
    content = _read(Path(path))
    check_secret(content, str(path))
    return content


def check_secret(secret: bytes, place: str) -> None:
    """Refuse a secret that can be found by trying.

    Raises:
        UsageError: It has fewer than 16 bytes.
    """
    if len(secret) < LEAST_BYTES:
        raise UsageError(
            f"{place}: the key has {len(secret)} bytes, which can be found by trying. Use at least {LEAST_BYTES} "
            "random bytes, such as those of: openssl rand -out key 32"
        )


def about_open_files(paths: Iterable[str | os.PathLike[str] | None]) -> list[Note]:
    """Note secrets that other users of the machine can read."""
    notes = []
    for path in paths:
        if path is not None and os.name == "posix" and os.stat(path).st_mode & 0o077:
            text = "other users of this machine can read or change this secret"
            notes.append(Note(file_path(path if isinstance(path, str) else Path(path)), text, "run chmod 600 on it"))
    return notes


def _read(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from None
    if len(content) > MOST_BYTES:
        raise UsageError(f"{path}: is larger than {MOST_BYTES:,} bytes, so it is not a key. Name the file of the key.")
    return content


def _load(content: bytes, path: Path) -> Ed25519PrivateKey:
    """Return the private key in a PEM file; say what the file is instead."""
    kind = _ed25519().Ed25519PrivateKey
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    cure = f"Make a pair with: shoal keygen NAME, and pass NAME.pem to {setting('sign_key')}."
    if b"-----BEGIN PUBLIC KEY-----" in content:
        raise UsageError(f"{path}: is a public key; a signature needs the private one. {cure}")
    try:
        key = load_pem_private_key(content, password=None)
    except TypeError:
        raise UsageError(
            f"{path}: is encrypted, and shoal asks for no password. Decrypt it first: openssl pkey -in {path} -out "
            "key.pem"
        ) from None
    except (ValueError, UnsupportedAlgorithm):
        raise UsageError(f"{path}: is not a private key in PEM format, or it is damaged. {cure}") from None
    if not isinstance(key, kind):
        raise UsageError(f"{path}: is not an {ALGORITHM} key, the only kind that shoal signs with. {cure}")
    return key  # type: ignore[no-any-return]


def _ed25519() -> Any:
    """Return the module of Ed25519 keys; it belongs to an extra."""
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ModuleNotFoundError:
        raise UsageError("signatures need cryptography, which is not installed: pip install 'shoal[sign]'") from None
    return ed25519
