"""Finds the field whose value does not fit its wire type, after an encode failed. Does not wait.

Compiled encoders check nothing beforehand. The message is walked only after `struct` or a method
call has refused a value. So the error names the field instead of a format letter.
"""

import struct
from typing import Any

from aiokafka_lite.checks.quoted import number
from aiokafka_lite.schema.field_types import ArrayOf, Primitive
from aiokafka_lite.schema.versioned_struct import Struct, fields_of


def unencodable(message: Struct, label: str, version: int, cause: Exception) -> ValueError:
    """Return the error to raise for a message whose compiled encoder failed with `cause`."""
    fault = find_fault(message, version) or f"{type(cause).__name__}: {cause}"
    return ValueError(f"{label} cannot be encoded: {fault}")


def find_fault(message: Struct, version: int, path: str = "") -> str | None:
    """Return what is wrong with the first value that does not fit; None when all fit."""
    for field in fields_of(type(message)):
        if version not in field.versions:
            continue
        value = getattr(message, field.name)
        if value is None and version in field.nullable:
            continue
        fault = _value_fault(field.type, value, version, f"{path}{field.name}")
        if fault:
            return fault
    return None


def _value_fault(kind: Any, value: Any, version: int, path: str) -> str | None:
    if isinstance(kind, ArrayOf):
        if not isinstance(value, list | tuple):
            return f"{path} must be a list, not {number(value)}"
        faults = (
            _value_fault(kind.element, item, version, f"{path}[{index}]")
            for index, item in enumerate(value)
        )
        return next((fault for fault in faults if fault), None)
    if isinstance(kind, Primitive):
        return _primitive_fault(kind, value, path)
    if not isinstance(value, kind):
        return f"{path} must be of type {kind.__name__}, not {number(value)}"
    return find_fault(value, version, f"{path}.")


def _primitive_fault(kind: Primitive, value: Any, path: str) -> str | None:
    try:
        if kind.name == "string":
            size = len(value.encode())
            return f"{path} has {size} bytes, above the limit of 32767" if size > 0x7FFF else None
        if kind.name == "uuid":
            value = value.bytes
        if kind.code:
            struct.Struct(f">{kind.code}").pack(value)
        elif value is not None or kind.name != "records":
            memoryview(value)
    except (struct.error, TypeError, AttributeError, UnicodeEncodeError):
        return f"{path} must be of type {kind.name}, not {number(value)}"
    return None


__all__ = ["find_fault", "unencodable"]
