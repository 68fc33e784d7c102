"""Gives a constructor with `**options` the signature, help and errors of one that names them all.

The fields of a frozen dataclass are the one declaration of the options. Signature and help are made
from it when they are first looked at, so an import does not pay for them. Does not wait.
"""

import inspect
from collections.abc import Callable
from typing import Any

from aiokafka_lite.light_dataclass import fields_by_name
from aiokafka_lite.options.secret_options import hidden
from aiokafka_lite.secret import Secret


def declare_options(client: type, config: type) -> None:
    """Show the fields of the dataclass `config` in `inspect.signature` and `help` of `client`.

    The constructor of `client` takes them as `**options`.
    """
    init: Any = vars(client)["__init__"]
    # The type of the options has a name for type checkers alone; `get_type_hints` must not fail.
    init.__annotations__["options"] = Any
    init.__signature__ = _LazySignature.of(init, config)
    client.__doc__ = _Help(client.__doc__ or "", config)  # type: ignore[assignment]


def check_names(
    client: object, constructor: Callable[..., None], config: type, options: Any
) -> None:
    """Raise TypeError for the first of `options` that is no field of `config`.

    The error names the parameter of `constructor` that was most likely meant. `options` is a dict,
    in which secrets become `Secret`. So a traceback that shows variables does not show them. The
    text of a name that is not known may be one, too.
    """
    declared = fields_by_name(config)
    wrong = [name for name in options if name not in declared or not declared[name].init]
    _hide(options, wrong)
    if wrong:
        raise TypeError(_refusal(type(client).__name__, wrong[0], constructor))


def _hide(options: dict[str, Any], wrong: list[str]) -> None:
    for name, value in options.items():
        is_wrong_text = name in wrong and isinstance(value, str | bytes)
        options[name] = Secret(value) if is_wrong_text else hidden(name, value)


def _refusal(client: str, name: str, constructor: Callable[..., None]) -> str:
    from aiokafka_lite.options.option_names import meant_option  # noqa: PLC0415 - for errors only

    meant = meant_option(name, inspect.signature(constructor).parameters)
    remedy = f"; did you mean {meant!r}?" if meant else ""
    return f"{client}() got an unexpected keyword argument {name!r}{remedy}"


class _LazySignature(inspect.Signature):
    """The signature of a constructor, with the fields of a dataclass in place of `**options`."""

    __slots__ = ("_config", "_constructor")

    _config: type
    _constructor: Any

    @classmethod
    def of(cls, constructor: Any, config: type) -> "_LazySignature":
        """Return a signature whose parameters are found when they are first asked for."""
        self = cls.__new__(cls)
        self._constructor = constructor
        self._config = config
        return self

    def __getattr__(self, name: str) -> Any:
        if name not in inspect.Signature.__slots__:
            raise AttributeError(name)
        inspect.Signature.__init__(self, self._found(), return_annotation=None)
        return getattr(self, name)

    def _found(self) -> list[inspect.Parameter]:
        constructor = self._constructor
        del constructor.__signature__  # or it would be asked of this object
        own = inspect.signature(constructor).parameters.values()
        constructor.__signature__ = self
        keyword_only = inspect.Parameter.KEYWORD_ONLY
        return [each for each in own if each.kind is not inspect.Parameter.VAR_KEYWORD] + [
            inspect.Parameter(
                field.name, keyword_only, default=field.default, annotation=field.type
            )
            for field in fields_by_name(self._config).values()
            if field.init
        ]


class _Help:
    """The docstring of a class, followed by its options."""

    def __init__(self, text: str, config: type) -> None:
        self._text = text
        self._config = config

    def __get__(self, instance: object, owner: type) -> str:
        from aiokafka_lite.options.declared_options import help_text  # noqa: PLC0415 - for help only

        return f"{inspect.cleandoc(self._text)}\n\n{help_text(self._config)}"


__all__ = ["check_names", "declare_options"]
