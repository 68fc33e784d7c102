"""The text of a setting's value, as Kafka takes all values of configurations. Does not wait."""

from collections.abc import Sequence

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.value_checks import is_int
from aiokafka_lite.errors import IllegalArgumentError


def setting_text(name: str, value: object, subject: str) -> str:
    """Return the value of the setting `name` of `subject`, such as "topic 'orders'", as text.

    Raises: IllegalArgumentError for anything but a str, bool, int, float or list of str.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if is_int(value) or isinstance(value, float):
        return str(value)
    if isinstance(value, Sequence) and all(isinstance(each, str) for each in value):
        return ",".join(value)
    raise IllegalArgumentError(
        f"{name}={quoted(value)} of {subject} is no value of a setting; name a str, bool,"
        " int, float or list of str, or delete it by AlterConfigOp.DELETE"
    )


__all__ = ["setting_text"]
