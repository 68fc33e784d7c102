"""Maps Avro schemas to column types of Arrow and Spark, and compares logical types of two schemas.

Schemas are the parsed JSON of the Avro specification. pyarrow is imported at the first use. Does
not wait.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn

from aiokafka_lite.errors import KafkaConfigurationError

if TYPE_CHECKING:
    import pyarrow as pa

Schema = Any
"""A name, a list (a union) or a dict, as in JSON."""

_PRIMITIVES: Final = {
    "boolean": ("bool_", "boolean"),
    "int": ("int32", "int"),
    "long": ("int64", "bigint"),
    "float": ("float32", "float"),
    "double": ("float64", "double"),
    "bytes": ("binary", "binary"),
    "string": ("string", "string"),
    "null": ("null", "void"),
}
_FAMILIES: Final = {
    "date": "date",
    "timestamp-millis": "timestamp",
    "timestamp-micros": "timestamp",
    "local-timestamp-millis": "local timestamp",
    "local-timestamp-micros": "local timestamp",
    "decimal": "decimal",
}
"""The logical types that have a column type of their own.

For the others the column has the underlying number or text.
"""
_WIDER: Final = ({"int", "long"}, "long"), ({"float", "double"}, "double")
_MAX_DECIMAL_DIGITS: Final = 38


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A type, in Arrow and in Spark's DDL."""

    arrow: "pa.DataType"
    ddl: str


def column_type(schema: Schema) -> ColumnType:
    """Return the column type of a schema. A record is a struct; every column may be null.

    Raises: KafkaConfigurationError naming the field, for a schema without a column type: a union of
    several types, or a record that contains itself.
    """
    return _column_type(schema, "value", {}, ())


def kept_logical_types(schema: Schema) -> Schema:
    """Return the schema without the logical types that have no column type of their own."""
    if isinstance(schema, list):
        return [kept_logical_types(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: value for key, value in schema.items() if key != "logicalType" or value in _FAMILIES
    }
    for key in ("type", "items", "values"):
        if key in kept:
            kept[key] = kept_logical_types(kept[key])
    if "fields" in kept:
        kept["fields"] = [kept_logical_types(each) for each in kept["fields"]]
    return kept


def logical_conflicts(writer: Schema, reader: Schema) -> list[str]:
    """Return a sentence for each field whose logical type differs between writer and reader.

    Avro's schema resolution ignores logical types, so a reader would misread such a field.
    """
    written = dict(_leaves(writer, "value", {}, ()))
    return [
        f"{path} was written as {written[path] or 'a plain value'}, and is read as"
        f" {family or 'a plain value'}"
        for path, family in _leaves(reader, "value", {}, ())
        if path in written and written[path] != family
    ]


def _column_type(
    schema: Schema, path: str, named: dict[str, Schema], inside: tuple[str, ...]
) -> ColumnType:
    import pyarrow as pa  # noqa: PLC0415

    schema = _without_null(schema, path)
    if isinstance(schema, str):
        if schema in _PRIMITIVES:
            arrow, ddl = _PRIMITIVES[schema]
            return ColumnType(getattr(pa, arrow)(), ddl)
        if schema in inside:
            _refuse(path, f"the record {schema} contains itself")
        if schema not in named:
            _refuse(path, f"the type {schema!r} is not known")
        return _column_type(named[schema], path, named, inside)
    family = _FAMILIES.get(schema.get("logicalType", ""))
    if family is not None:
        return _logical_type(schema, family, path)
    kind = schema["type"]
    name = _note_name(schema, named)
    if kind == "record":
        return _record_type(schema, path, named, (*inside, name))
    if kind == "array":
        item = _column_type(schema["items"], f"{path}[]", named, inside)
        return ColumnType(pa.list_(pa.field("element", item.arrow)), f"array<{item.ddl}>")
    if kind == "map":
        item = _column_type(schema["values"], f"{path}[]", named, inside)
        return ColumnType(pa.map_(pa.string(), item.arrow), f"map<string,{item.ddl}>")
    if kind in ("enum", "fixed"):
        return _column_type("string" if kind == "enum" else "bytes", path, named, inside)
    return _column_type(kind, path, named, inside)


def _logical_type(schema: Mapping[str, Any], family: str, path: str) -> ColumnType:
    import pyarrow as pa  # noqa: PLC0415

    if family == "decimal":
        digits, scale = schema["precision"], schema.get("scale", 0)
        if digits > _MAX_DECIMAL_DIGITS:
            _refuse(path, f"a decimal of {digits} digits; the limit is {_MAX_DECIMAL_DIGITS}")
        return ColumnType(pa.decimal128(digits, scale), f"decimal({digits},{scale})")
    return {
        "date": lambda: ColumnType(pa.date32(), "date"),
        "timestamp": lambda: ColumnType(pa.timestamp("us", "UTC"), "timestamp"),
        "local timestamp": lambda: ColumnType(pa.timestamp("us"), "timestamp_ntz"),
    }[family]()


def _record_type(
    schema: Mapping[str, Any], path: str, named: dict[str, Schema], inside: tuple[str, ...]
) -> ColumnType:
    import pyarrow as pa  # noqa: PLC0415

    fields = [
        (each["name"], _column_type(each["type"], f"{path}.{each['name']}", named, inside))
        for each in schema["fields"]
    ]
    if not fields:
        _refuse(path, "a record without fields")
    listed = ",".join(f"`{name}`:{kind.ddl}" for name, kind in fields)
    return ColumnType(
        pa.struct([pa.field(name, kind.arrow) for name, kind in fields]), f"struct<{listed}>"
    )


def _without_null(schema: Schema, path: str) -> Schema:
    """Return the type of a union besides null, or the wider of two numbers."""
    if not isinstance(schema, list):
        return schema
    others = [each for each in schema if each != "null"]
    if len(others) == 1:
        return others[0]
    for pair, wider in _WIDER:
        if all(isinstance(each, str) and each in pair for each in others) and others:
            return wider
    if not others:
        return "null"
    return _refuse(path, f"a union of {len(others)} types, of which a column has one")


def _note_name(schema: Mapping[str, Any], named: dict[str, Schema]) -> str:
    """Store a named type under its name, with and without the namespace."""
    name = str(schema.get("name", ""))
    if name:
        named[name] = schema
        space = schema.get("namespace")
        if space and "." not in name:
            named[f"{space}.{name}"] = schema
        else:
            named[name.rpartition(".")[2]] = schema
    return name


def _leaves(
    schema: Schema, path: str, named: dict[str, Schema], inside: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    """Yield the place of each value, and the family of its logical type; "" without one."""
    if isinstance(schema, list):
        for each in schema:
            if each != "null":
                yield from _leaves(each, path, named, inside)
        return
    if isinstance(schema, str):
        if schema in named and schema not in inside:
            yield from _leaves(named[schema], path, named, (*inside, schema))
        else:
            yield path, ""
        return
    name = _note_name(schema, named)
    kind = schema["type"]
    if kind == "record":
        for each in schema["fields"]:
            yield from _leaves(each["type"], f"{path}.{each['name']}", named, (*inside, name))
    elif kind in ("array", "map"):
        yield from _leaves(
            schema["items" if kind == "array" else "values"], f"{path}[]", named, inside
        )
    elif isinstance(kind, dict | list) and "logicalType" not in schema:
        yield from _leaves(kind, path, named, inside)
    else:
        yield path, _FAMILIES.get(schema.get("logicalType", ""), "")


def _refuse(path: str, what: str) -> NoReturn:
    raise KafkaConfigurationError(
        f"the Avro schema has no column type for {path}: {what}; read it with a schema of the"
        " fields you need"
    )


__all__ = ["ColumnType", "Schema", "column_type", "kept_logical_types", "logical_conflicts"]
