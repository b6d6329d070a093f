"""`shoal methods`."""

from __future__ import annotations

from shoal.cli import options as opt
from shoal.cli import terminal


def methods(as_json: opt.AsJson = False) -> None:
    """List the methods, each with one line, its paper and its models."""
    from shoal.methods.registry import infos
    from shoal.models.registry import MODELS, names_of

    if as_json:
        lines = []
        for info in infos():
            lines.append(
                {"name": info.name, "summary": info.summary, "paper": info.paper, "models": names_of(info.honours)}
            )
        terminal.print_json(lines)
        return
    rows = []
    for info in infos():
        names = names_of(info.honours)
        absent = [name for name in MODELS if name not in names]
        models = f"all but {', '.join(absent)}" if absent else "all"
        rows.append((info.name, f"{info.summary}\n{info.paper}\nModels: {models}"))
    terminal.print_table("shoal: methods", rows)
