"""Applies the changes of a request to what is stored: set, delete, append, subtract.

Does not wait. Source: KIP-339, ConfigurationControlManager.incrementalAlterConfigResource.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from aiokafka_lite.errors import InvalidConfigurationError, InvalidRequestError, UnknownError
from aiokafka_lite.testing.broker.state.config_resources import SettingsOwner

SET, DELETE, APPEND, SUBTRACT = range(4)
"""What is done to a setting, by Kafka's numbers."""
_NAMES: Final = ("SET", "DELETE", "APPEND", "SUBTRACT")

Change = tuple[str, int, str | None]
"""The name of a setting, what is done to it, and the value."""


def change(
    resource: SettingsOwner, changes: Sequence[Change], *, validate_only: bool = False
) -> None:
    """Change settings one by one; all or none.

    Raises: InvalidRequestError or InvalidConfigurationError in Kafka's words.
    """
    _check_names([name for name, _, _ in changes])
    missing = [name for name, done, value in changes if value is None and done != DELETE]
    if missing:
        raise InvalidRequestError(f"Null value not supported for : {','.join(missing)}")
    given = dict(resource.current())
    for name, done, value in changes:
        if done == SET:
            given[name] = value or ""
        elif done == DELETE:
            given.pop(name, None)
        else:
            given[name] = _edited_list(resource, given.get(name), name, done, value or "")
    _apply(resource, given, [name for name, _, _ in changes], validate_only)


def replace(
    resource: SettingsOwner,
    settings: Sequence[tuple[str, str | None]],
    *,
    validate_only: bool = False,
) -> None:
    """Replace all settings. Raises: as `change`."""
    _check_names([name for name, _ in settings])
    missing = [name for name, value in settings if value is None]
    if missing:
        raise InvalidRequestError(f"Null value not supported for : {','.join(missing)}")
    given = {name: value or "" for name, value in settings}
    _apply(resource, given, list(given), validate_only)


def _apply(
    resource: SettingsOwner, given: dict[str, str], changed: list[str], validate_only: bool
) -> None:
    resource.check(given, changed)
    if not validate_only:
        resource.store(given)


def _check_names(names: list[str]) -> None:
    if len(set(names)) < len(names):
        raise InvalidRequestError("Error due to duplicate config keys")


def _edited_list(
    resource: SettingsOwner, present: str | None, name: str, done: int, value: str
) -> str:
    if done not in range(len(_NAMES)):
        raise UnknownError(f"{done} is nothing that can be done to a setting")
    what = _NAMES[done]
    default = resource.list_default(name, what)
    if default is None:
        raise InvalidConfigurationError(f"Can't {what} to key {name} because its type is not LIST.")
    elements = _elements(default if present is None else present)
    asked = _elements(value)
    if done == SUBTRACT:
        return ",".join(each for each in elements if each not in asked)
    return ",".join(dict.fromkeys([*elements, *asked]))


def _elements(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


__all__ = ["APPEND", "DELETE", "SET", "SUBTRACT", "Change", "change", "replace"]
