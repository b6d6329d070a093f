"""Light dataclasses behave as those of Python, and plain values of options are those that typer makes."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from dataclasses import field
from types import SimpleNamespace
from typing import Any

import pytest
import typer

import shoal.release.job  # noqa: F401
from shoal.cli import quick
from shoal.cli.main import COMMANDS, make_app

VALUES = [
    "",
    "5",
    "0",
    "-1",
    "007",
    "5.0",
    " 5",
    "٥",
    "9" * 12,
    "text",
    "é",
    "a\nb",
    "\udcff",
    "\0",
    "-",
    "/etc",
    "a,b",
]


def frozen_dataclasses() -> list[Any]:
    """Return the frozen dataclasses that a run of `shoal anonymize` loads; a plain class derived from one is none."""
    loaded = [module for name, module in sys.modules.items() if name.startswith("shoal.")]
    classes: set[Any] = {each for module in loaded for each in vars(module).values() if isinstance(each, type)}
    decorated = [each for each in classes if "__dataclass_params__" in vars(each)]
    return [each for each in decorated if each.__dataclass_params__.frozen]


def test_every_dataclass_of_the_package_is_the_same_when_made_lightly() -> None:
    """The parameters of each class, what it shows, and when two of its instances are equal."""
    classes = frozen_dataclasses()
    assert len(classes) > 150
    for cls in classes:
        plain, light = (inspect.signature(init) for init in (cls.__init__, quick._compile_init(cls)))
        for one, other in zip(plain.parameters.values(), light.parameters.values(), strict=True):
            assert (one.name, one.kind) == (other.name, other.kind), cls
            assert (one.default is one.empty) == (other.default is other.empty), cls
        if inspect.isabstract(cls) or issubclass(cls, BaseException):
            continue
        names = [each.name for each in dataclasses.fields(cls)]
        first, same, different = (filled(cls, names, last) for last in ("x", "x", "y"))
        params = cls.__dataclass_params__
        if params.repr and is_generated(cls.__repr__):
            assert repr(first) == quick._repr(cls)(first), cls
        if params.eq and is_generated(cls.__eq__) and is_generated(cls.__hash__):
            equal, hashed = quick._comparison(cls)
            assert equal(first, same), cls
            assert hashed(first) == hashed(same), cls
            assert equal(first, different) == (first == different), cls
            assert equal(first, object()) is NotImplemented, cls


def filled(cls: type, names: list[str], last: str) -> Any:
    """Return an instance that holds a text in each field."""
    instance = object.__new__(cls)
    for name in names:
        object.__setattr__(instance, name, last if name == names[-1] else name)
    return instance


def is_generated(method: Any) -> bool:
    """Return whether Python wrote a method of a dataclass."""
    code = getattr(getattr(method, "__wrapped__", method), "__code__", None)
    return code is not None and code.co_filename == "<string>"


def example(decorator: Any) -> tuple[Any, Any]:
    """Return two classes, one of which inherits from the other, with every form of field."""

    @decorator(frozen=True)
    class Base:
        """A base."""

        one: int
        two: list[int] = field(default_factory=list)
        hidden: str = field(default="h", repr=False, compare=False)
        made: int = field(init=False, default=7)
        computed: int = field(init=False)
        late: str = field(default="late", kw_only=True)

        def __post_init__(self) -> None:
            if self.one < 0:
                raise ValueError("negative")
            object.__setattr__(self, "computed", self.one + 1)

    @decorator(frozen=True, eq=False)
    class Derived(Base):
        """One more field."""

        three: tuple[int, ...] = (1,)

    return Base, Derived


def test_a_light_dataclass_does_what_a_plain_one_does() -> None:
    def lightly(**options: Any) -> Any:
        def decorate(cls: Any) -> Any:
            cls.__module__ = "shoal.cli.quick"
            return quick.light_dataclass(cls, **options)

        return decorate

    for plain, light in zip(example(dataclasses.dataclass), example(lightly), strict=True):
        assert "_compile" in light.__init__.__code__.co_names[0]  # nothing is compiled yet
        for make in (lambda cls: cls(1), lambda cls: cls(1, [2], late="x"), lambda cls: cls(one=1, hidden="other")):
            one, other = make(plain), make(light)
            assert (repr(one), dataclasses.asdict(one)) == (repr(other), dataclasses.asdict(other))
            assert (one == make(plain)) == (other == make(light))
            assert dataclasses.replace(other, one=5).one == 5
        for wrong in (
            lambda cls: cls(),
            lambda cls: cls(1, made=3),
            lambda cls: cls(-1),
            lambda cls: cls(1, 2, 3, 4, 5),
        ):
            for cls in (plain, light):
                with pytest.raises((TypeError, ValueError)):
                    wrong(cls)
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'one'"):
            light(1).one = 2
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'one'"):
            del light(1).one
        assert light(1).two is not light(1).two
        assert (light.__match_args__, light.made) == (plain.__match_args__, plain.made)


def test_classes_of_others_and_other_forms_are_made_as_ever() -> None:
    @quick.light_dataclass
    class Open:
        one: int = 1

    @quick.light_dataclass(frozen=True)
    class Foreign:
        one: int = 1

    Open().one = 2
    assert Foreign.__dataclass_params__.frozen


@pytest.mark.parametrize("name", COMMANDS)
def test_plain_values_are_those_of_typer(name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every parameter of every command, with sensible and odd values."""
    monkeypatch.chdir(tmp_path)
    command: Any = typer.main.get_command(make_app([name])).commands[name]  # type: ignore[attr-defined]
    ctx: Any = SimpleNamespace(token_normalize_func=None, color=None, resilient_parsing=False)
    commands = list(command.commands.values()) if hasattr(command, "commands") else [command]
    for parameter in (each for one in commands for each in one.params):
        judge = parameter.process_value
        quick.quicken(parameter)
        is_list = parameter.multiple or parameter.nargs == -1
        for value in (None, True, *VALUES):
            if value == "-" and "parser" in repr(parameter):
                continue
            passed = (value, "b") if is_list and isinstance(value, str) else value
            outcomes = [outcome(process, ctx, passed) for process in (judge, parameter.process_value)]
            assert outcomes[0] == outcomes[1], (parameter.name, value)


def outcome(process: Any, ctx: Any, value: Any) -> Any:
    """Return a value as a command sees it, or the class of the error."""
    try:
        made = process(ctx, value)
    except Exception as error:
        return type(error)
    return (type(made), made) if not isinstance(made, (list, tuple)) else list(made)
