"""A column of bytes becomes a column of values, and one of reasons."""

import pickle

import pyarrow as pa
import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.schema_registry import RegistryUnavailableError, UnknownSchemaError
from aiokafka_lite.spark.decode.decoding import AvroColumn, decode_column
from tests.conftest import NO_SPARK
from tests.spark.decode.test_avro_decoder import ORDER, written


def failing(raw: bytes) -> int:
    if raw == b"registry":
        raise RegistryUnavailableError("not now")
    if raw == b"unknown":
        raise UnknownSchemaError("no schema 7")
    return int(raw)


def test_each_value_is_decoded_or_has_a_reason() -> None:
    raw = pa.array([b"1", None, b"x", b"2", str(2**40).encode()])
    value, error = decode_column(raw, failing, pa.int32())
    assert value.to_pylist() == [1, None, None, 2, None]
    reasons = error.to_pylist()
    assert [each and each["class"] for each in reasons] == [
        *(None, None, "ValueError", None),
        "pyarrow.lib.ArrowInvalid",
    ]
    assert "invalid literal for int()" in reasons[2]["message"]


def test_a_reason_fits_into_a_header() -> None:
    def fail(raw: bytes) -> None:
        raise ValueError("x" * 5000)

    _, error = decode_column(pa.array([b"1"]), fail, pa.null())
    assert len(error[0]["message"].as_py()) == 1000


def test_a_registry_that_does_not_answer_is_no_fault_of_a_value() -> None:
    with pytest.raises(RegistryUnavailableError):
        decode_column(pa.array([b"1", b"registry"]), failing, pa.int32())


def test_an_unknown_schema_is_a_fault_of_the_value() -> None:
    value, error = decode_column(pa.array([b"1", b"unknown"]), failing, pa.int32())
    assert value.to_pylist() == [1, None]
    assert "no schema 7" in error.to_pylist()[1]["message"]


def test_a_column_is_decoded_to_structs_wherever_it_has_travelled_to() -> None:
    column = pickle.loads(pickle.dumps(AvroColumn(schema=ORDER)))
    value, error = "struct<`id`:bigint,`name`:string>", "struct<class:string,message:string>"
    assert column.ddl() == f"struct<value:{value},error:{error}>"
    good = {"id": 1, "name": "a"}
    found = column(pa.array([written(ORDER, good), b"", None])).to_pylist()
    assert [each["value"] for each in found] == [good, None, None]
    assert [each["error"] is None for each in found] == [True, False, True]


def test_without_functions_of_arrow_columns_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark", reason=NO_SPARK)
    monkeypatch.setattr("aiokafka_lite.spark.compat.arrow_udf", None)
    with pytest.raises(KafkaConfigurationError, match=r"decoded with PySpark 4\.1 or newer"):
        AvroColumn(schema=ORDER).function()
