"""Owns the column that values are decoded to, in an executor: Arrow in, Arrow out, and for each
value that cannot be decoded the reason in place of it.

What it is made of travels to the executors, so it holds values only. It blocks where a registry is
asked, once per schema and process.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.decode.avro_types import column_type
from aiokafka_lite.spark.decode.schema_registry import (
    RegistryConfig,
    SchemaRegistryError,
    registry,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from aiokafka_lite.spark.decode.avro_decoder import AvroDecoder

ERROR: Final = "struct<class:string,message:string>"
"""Why a value could not be decoded: the class of an exception, and what it says."""
_MAX_MESSAGE: Final = 1000
"""How much is told of a fault: it has to fit into a header."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroColumn:
    """Decodes a column of Avro bytes to one of structs: the `value`, of the type of the reader's
    schema, and the `error`; one of them is null, both are for a null."""

    schema: str
    """The reader's, as JSON."""
    registry: RegistryConfig | None = None
    """Where the writers' schemas are; None: values are Avro without Confluent's header."""

    def ddl(self) -> str:
        """Return the type. Raises KafkaConfigurationError for a schema that no column can have."""
        from aiokafka_lite.spark.decode.avro_decoder import parse_avro  # noqa: PLC0415 - see above

        return f"struct<value:{column_type(parse_avro(self.schema)).ddl},error:{ERROR}>"

    def __call__(self, raw: "pa.Array") -> "pa.Array":
        """Decode an array. Raises SchemaRegistryError: that is the fault of no value."""
        import pyarrow as pa  # noqa: PLC0415 - only where rows are

        decoder, kind = _decoder(self)
        columns = decode_column(raw, decoder.decode, kind)
        return pa.StructArray.from_arrays(columns, ["value", "error"])

    def function(self) -> Any:
        """Return it as a function of Spark's columns. Raises KafkaConfigurationError before 4.1."""
        from aiokafka_lite.spark.compat import arrow_udf  # noqa: PLC0415 - PySpark, only on drivers

        if arrow_udf is None:
            raise KafkaConfigurationError(
                "Avro is decoded with PySpark 4.1 or newer, which hands columns over as Arrow"
            )
        import pyarrow as pa  # noqa: PLC0415 - as above

        def decode(raw: pa.Array) -> pa.Array:  # Spark looks at the types
            return self(raw)

        # It would be called once for each place that has the column, of which filters make more.
        return arrow_udf(decode, self.ddl()).asNondeterministic()


@functools.lru_cache(maxsize=16)
def _decoder(column: AvroColumn) -> "tuple[AvroDecoder, pa.DataType]":
    """Return the decoder of this process, with the schemas it knows."""
    from aiokafka_lite.spark.decode.avro_decoder import AvroDecoder, parse_avro  # noqa: PLC0415 - as above

    reader = parse_avro(column.schema)
    find = None if column.registry is None else registry(column.registry).by_id
    return AvroDecoder(reader, find), column_type(reader).arrow


def decode_column(
    raw: "pa.Array", decode: Callable[[bytes], Any], kind: "pa.DataType"
) -> "tuple[pa.Array, pa.Array]":
    """Return the decoded values as an array of that type, and what was wrong with those that could
    not be decoded. Raises SchemaRegistryError: that is the fault of no value.
    """
    import pyarrow as pa  # noqa: PLC0415 - as above

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
    except SchemaRegistryError:
        raise
    except Exception as error:  # noqa: BLE001 - what bytes can do to a decoder has no one class
        return None, _reason(error)


def _one_by_one(values: list[Any], errors: list[Any], kind: "pa.DataType") -> "pa.Array":
    """Leave out the values that the type cannot have, such as a number too large for it."""
    import pyarrow as pa  # noqa: PLC0415 - as above

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
