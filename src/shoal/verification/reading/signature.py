"""The signature of a manifest, checked with the public key of whoever made the release.

The verifier forms the signed bytes itself: the manifest without its field "signature", as JSON in UTF-8 with keys
sorted by code point, without blanks, letters as they are. It shares nothing with the code that signs but the library
`cryptography`.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Mapping
from typing import Any

from shoal.errors import FileError, UsageError, setting
from shoal.verification.verdict import Violation

__all__ = ["signature_violations"]

MOST_BYTES = 1 << 16  # of a key file


def signature_violations(content: Mapping[str, Any] | None, public_key: str | os.PathLike[str]) -> list[Violation]:
    """Return a violation unless the owner of a key signed a manifest.

    Args:
        content: The manifest as plain values; None if there is none.
        public_key: The PEM file of an Ed25519 public key.

    Raises:
        UsageError: The file is not such a key, or the package for signatures is not installed.
        FileError: The file cannot be read.
    """
    key = _read_key(public_key)
    if content is None:
        return [Violation("signature", "there is no manifest beside the file, so nothing is signed")]
    text = content.get("signature")
    if text is None:
        return [Violation("signature", "the manifest is not signed")]
    from cryptography.exceptions import InvalidSignature

    try:
        signature = base64.b64decode(text.encode("ascii"), validate=True)
        key.verify(signature, _signed_bytes(content))
    except (AttributeError, UnicodeError, binascii.Error, ValueError):
        return [Violation("signature", "it is damaged: it is not an Ed25519 signature in Base64")]
    except InvalidSignature:
        fault = "it does not match: the manifest was changed after it was signed, or another key signed it"
        return [Violation("signature", fault)]
    return []


def _signed_bytes(content: Mapping[str, Any]) -> bytes:
    unsigned = {name: value for name, value in content.items() if name != "signature"}
    return json.dumps(unsigned, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _read_key(path: str | os.PathLike[str]) -> Any:
    """Return the public key in a PEM file."""
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
    except ModuleNotFoundError:
        raise UsageError("signatures need cryptography, which is not installed: pip install 'shoal[sign]'") from None
    place = os.fspath(path)
    try:
        with open(place, "rb") as file:
            content = file.read(MOST_BYTES)
    except OSError as error:
        raise FileError(f"{place}: cannot be read: {error.strerror}.") from None
    cure = f"Pass the public key of whoever signed the release with {setting('public_key')}."
    if b"PRIVATE KEY-----" in content:
        raise UsageError(f"{place}: is a private key; it is not needed here and should stay where it was made. {cure}")
    try:
        key = load_pem_public_key(content)
    except (ValueError, UnsupportedAlgorithm):
        raise UsageError(f"{place}: is not a public key in PEM format, or it is damaged. {cure}") from None
    if not isinstance(key, Ed25519PublicKey):
        raise UsageError(f"{place}: is not an Ed25519 key, the only kind that shoal signs with. {cure}")
    return key
