"""Decodes a column of values in an executor: Arrow in, Arrow out.

A value that cannot be decoded is replaced by its error. The column's description travels to the
executors, so it holds plain values only. A registry lookup blocks, once per schema and process.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.schema_registry.registry_errors import SchemaRegistryError, UnknownSchemaError
from aiokafka_lite.spark.decode.avro_types import column_type
from aiokafka_lite.spark.decode.blocking_registry import RegistryConfig, registry

if TYPE_CHECKING:
    import pyarrow as pa

    from aiokafka_lite.spark.decode.avro_decoder import AvroDecoder

ERROR: Final = "struct<class:string,message:string>"
"""Why a value could not be decoded: the class of an exception, and its text."""
_MAX_MESSAGE: Final = 1000
"""The longest text of an error in characters, because it has to fit into a header."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroColumn:
    """Decodes a column of Avro bytes to a column of structs with `value` and `error`.

    `value` has the type of the reader's schema. One of the two fields is null; for a null input
    both are.
    """

    schema: str
    """The reader's schema, as JSON."""
    registry: RegistryConfig | None = None
    """The registry of the writers' schemas.

    None: the values are Avro without Confluent's header.
    """

    def ddl(self) -> str:
        """Return the type. Raises: KafkaConfigurationError for a schema without a column type."""
        from aiokafka_lite.spark.decode.avro_decoder import parse_reader  # noqa: PLC0415

        return f"struct<value:{column_type(parse_reader(self.schema)).ddl},error:{ERROR}>"

    def __call__(self, raw: "pa.Array") -> "pa.Array":
        """Decode an array. Raises: SchemaRegistryError, because then no value is at fault."""
        import pyarrow as pa  # noqa: PLC0415 - only where rows are

        decoder, kind = _decoder(self)
        columns = decode_column(raw, decoder.decode, kind)
        return pa.StructArray.from_arrays(columns, ["value", "error"])

    def function(self) -> Any:
        """Return this as a function of Spark's columns.

        Raises: KafkaConfigurationError before 4.1.
        """
        from aiokafka_lite.spark.compat import arrow_udf  # noqa: PLC0415 - PySpark, only on drivers

        if arrow_udf is None:
            raise KafkaConfigurationError(
                "Avro is decoded with PySpark 4.1 or newer, which hands columns over as Arrow"
            )
        import pyarrow as pa  # noqa: PLC0415

        def decode(raw: pa.Array) -> pa.Array:  # Spark reads these annotations
            return self(raw)

        # Otherwise Spark would call it once for each use of the column, and filters add uses.
        return arrow_udf(decode, self.ddl()).asNondeterministic()


@functools.lru_cache(maxsize=16)
def _decoder(column: AvroColumn) -> "tuple[AvroDecoder, pa.DataType]":
    """Return the decoder of this process, with the schemas it knows."""
    from aiokafka_lite.spark.decode.avro_decoder import AvroDecoder, parse_reader  # noqa: PLC0415

    reader = parse_reader(column.schema)
    find = None if column.registry is None else registry(column.registry).by_id
    return AvroDecoder(reader, find), column_type(reader).arrow


def decode_column(
    raw: "pa.Array", decode: Callable[[bytes], Any], kind: "pa.DataType"
) -> "tuple[pa.Array, pa.Array]":
    """Return the decoded values as an array of that type, and the errors of the others.

    Raises: SchemaRegistryError, because then no value is at fault.
    """
    import pyarrow as pa  # noqa: PLC0415

    values: list[Any] = []
    errors: list[dict[str, str] | None] = []
    for each in raw.to_pylist():
        value, error = (None, None) if each is None else _attempt(decode, each)
        values.append(value)
        errors.append(error)
    try:
        column = pa.array(values, kind)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        column = _one_by_one(values, errors, kind)
    fields = pa.struct([("class", pa.string()), ("message", pa.string())])
    return column, pa.array(errors, fields)


def _attempt(decode: Callable[[bytes], Any], raw: bytes) -> tuple[Any, dict[str, str] | None]:
    try:
        return decode(raw), None
    except UnknownSchemaError as error:
        return None, _reason(error)
    except SchemaRegistryError:
        raise
    except Exception as error:  # noqa: BLE001 - what bytes can do to a decoder has no one class
        return None, _reason(error)


def _one_by_one(values: list[Any], errors: list[Any], kind: "pa.DataType") -> "pa.Array":
    """Replace values that the type cannot hold, such as a number that is too large."""
    import pyarrow as pa  # noqa: PLC0415

    for row, value in enumerate(values):
        try:
            pa.array([value], kind)
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
            values[row], errors[row] = None, _reason(error)
    return pa.array(values, kind)


def _reason(error: Exception) -> dict[str, str]:
    kind = type(error)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return {"class": f"{module}{kind.__qualname__}", "message": str(error)[:_MAX_MESSAGE]}


__all__ = ["ERROR", "AvroColumn", "decode_column"]
