"""What shortens the start of a command: cheaper dataclasses, and values of options without pydantic.

Half of a short run is spent on loading modules. Python compiles up to six functions for each of about 300 dataclasses,
most of which are never called, and recent versions of typer build a validator for every option, given or not.
"""

from __future__ import annotations

import dataclasses
import operator
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["light_dataclass", "quicken", "use_light_dataclasses"]

KNOWN = {"frozen", "eq", "repr", "kw_only"}
MOST_DIGITS = 9

_plain_dataclass = dataclasses.dataclass


def use_light_dataclasses() -> None:
    """Make the frozen dataclasses of shoal that are loaded from now on in the light way; for a process of our own."""
    dataclasses.dataclass = light_dataclass


def light_dataclass(cls: Any = None, /, **options: Any) -> Any:
    """Return what `dataclasses.dataclass` returns, but compile nothing until the first instance is made.

    Classes that are not frozen, have other options or belong to other packages are made as ever.
    """
    if cls is None:
        return lambda decorated: light_dataclass(decorated, **options)
    is_ours = cls.__module__.startswith("shoal.")
    # A base that was loaded before `use_light_dataclasses` is frozen in Python's way, and so are the classes below it.
    parameters = [getattr(base, "__dataclass_params__", None) for base in cls.__bases__]
    is_below = any(each is not None and each.frozen for each in parameters)
    if not is_ours or is_below or not options.get("frozen") or not options.keys() <= KNOWN:
        return _plain_dataclass(cls, **options)
    _plain_dataclass(cls, init=False, repr=False, eq=False, kw_only=options.get("kw_only", False))
    methods: list[Callable[..., Any]] = [_init(cls), *_frozen(cls)]
    if options.get("repr", True):
        methods.append(_repr(cls))
    if options.get("eq", True):
        methods += _comparison(cls)
    for method in methods:
        if method.__name__ not in cls.__dict__:
            method.__qualname__ = f"{cls.__qualname__}.{method.__name__}"
            setattr(cls, method.__name__, method)
    return cls


def _init(cls: Any) -> Callable[..., None]:
    """Return an `__init__` that compiles itself when it is first called."""

    def __init__(self: Any, *values: Any, **named: Any) -> None:  # noqa: N807
        cls.__init__ = _compile_init(cls)
        cls.__init__(self, *values, **named)

    return __init__


def _compile_init(cls: Any) -> Callable[..., None]:
    names: dict[str, Any] = {"_set": object.__setattr__, "_missing": dataclasses.MISSING}
    first: list[str] = []
    named: list[str] = []
    body: list[str] = []
    for field in dataclasses.fields(cls):
        name, value = field.name, field.name
        parameter = name
        if field.default_factory is not dataclasses.MISSING:
            names[f"_make_{name}"] = field.default_factory
            parameter = f"{name}=_missing"
            value = f"_make_{name}() if {name} is _missing else {name}" if field.init else f"_make_{name}()"
        elif not field.init:
            continue  # its default is that of the class, or __post_init__ sets it
        elif field.default is not dataclasses.MISSING:
            names[f"_default_{name}"] = field.default
            parameter = f"{name}=_default_{name}"
        if field.init:
            (named if field.kw_only else first).append(parameter)
        body.append(f"_set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = ", ".join(["self", *first, *["*"] * bool(named), *named])
    exec(f"def __init__({parameters}):\n " + "\n ".join(body or ["pass"]), names)
    made: Callable[..., None] = names["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__module__ = cls.__module__
    return made


def _frozen(cls: Any) -> tuple[Callable[..., None], Callable[..., None]]:
    fields = {field.name for field in dataclasses.fields(cls)}

    def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
        if type(self) is cls or name in fields:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        if type(self) is cls or name in fields:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return __setattr__, __delattr__


def _repr(cls: Any) -> Callable[..., str]:
    shown = [field.name for field in dataclasses.fields(cls) if field.repr]

    def __repr__(self: Any) -> str:  # noqa: N807
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{self.__class__.__qualname__}({values})"

    return __repr__


def _comparison(cls: Any) -> tuple[Callable[..., bool], Callable[..., int]]:
    fields = [field for field in dataclasses.fields(cls) if field.compare]
    compared = _values_of([field.name for field in fields])
    hashed = _values_of([field.name for field in fields if field.hash is not False])

    def __eq__(self: Any, other: object) -> bool:  # noqa: N807
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(hashed(self))

    return __eq__, __hash__


def _values_of(names: list[str]) -> Callable[[Any], Any]:
    return operator.attrgetter(*names) if names else _nothing


def _nothing(_: Any) -> tuple[()]:
    return ()


def quicken(parameter: Any) -> None:
    """Have a parameter of a command take plain values as they are; all others go the way of typer, which judges them.

    Args:
        parameter: An option or argument of typer. Versions of typer that need no validators are left as they are.
    """
    descriptor = getattr(parameter, "type_descriptor", None)
    if descriptor is None or "process_value" in vars(parameter):
        return
    judge = parameter.process_value

    def process_value(ctx: Any, value: Any) -> Any:
        if parameter.callback is None:
            if value is None and not parameter.required:
                return () if parameter.multiple or parameter.nargs == -1 else None
            try:
                return _plain_value(descriptor.annotation, descriptor.parameter_info, value)
            except ValueError:
                pass
        elif value is None:
            return parameter.callback(ctx, parameter, None)
        return judge(ctx, value)

    parameter.process_value = process_value


def _plain_value(kind: Any, info: Any, value: Any) -> Any:
    """Return the value of a parameter.

    Args:
        kind: The type of the parameter.
        info: What is declared about it.
        value: What was passed.

    Raises:
        ValueError: If the value is not plain.
    """
    if kind is bool and isinstance(value, bool):
        return value
    if kind == list[str] and isinstance(value, (list, tuple)):
        return [_plain_value(str, info, each) for each in value]
    if not isinstance(value, str) or not value.isprintable():  # a text that is not UTF-8 is not printable
        raise ValueError("not a plain text")
    if info.parser is not None:
        return info.parser(value)
    if kind is str:
        return value
    if kind is int and value.isdecimal() and value.isascii() and len(value) <= MOST_DIGITS:
        if (info.min is None or info.min <= int(value)) and info.max is None:
            return int(value)
    elif sys.modules["pathlib"].Path is kind and (os.access(value, os.R_OK) or not os.path.lexists(value)):
        return kind(value)
    raise ValueError("not a plain value")
