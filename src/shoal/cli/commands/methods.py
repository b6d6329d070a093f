"""`shoal methods`."""

from __future__ import annotations

from shoal.cli import options as opt
from shoal.cli import terminal


def methods(as_json: opt.AsJson = False) -> None:
    """List the methods, each with one line and its paper."""
    from shoal.methods.registry import infos

    if as_json:
        terminal.print_json([{"name": i.name, "summary": i.summary, "paper": i.paper} for i in infos()])
    else:
        terminal.print_table("shoal: methods", [(i.name, f"{i.summary}\n{i.paper}") for i in infos()])
