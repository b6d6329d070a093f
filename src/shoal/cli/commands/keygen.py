"""`shoal keygen`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.errors import UsageError


def keygen(
    name: Annotated[
        Path, typer.Argument(help="Name of the pair, with or without a folder: NAME.pem and NAME.pub.pem.")
    ] = Path("key"),
    as_json: opt.AsJson = False,
) -> None:
    """Make a pair of Ed25519 keys: the private one signs releases, the public one checks their signatures.

    A file that exists is never replaced. The private key is not encrypted: only its owner can read the file.

    Example: shoal keygen lab
    """
    from shoal.release.files.signature import make_pair

    if not name.name:
        raise UsageError(f"{name}: is a folder. Name the pair, such as {name / 'key'}.")
    base = name.with_suffix("") if name.suffix == ".pem" else name
    private, public = (base.with_name(f"{base.name}{suffix}") for suffix in (".pem", ".pub.pem"))
    fingerprint = make_pair(private, public).fingerprint
    if as_json:
        terminal.print_json({"private_key": str(private), "public_key": str(public), "sha256": fingerprint})
        return
    for line in (
        f"private key: {private}. Keep it secret, and keep a copy. Sign with --sign-key {private}",
        f"public key: {public}. Give it to receivers, who check with: shoal verify FILE --public-key {public}",
        f"SHA-256: {fingerprint}. It names the key in manifests.",
    ):
        terminal.say(line)
