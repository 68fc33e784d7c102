"""Tests of `codec/crc32c.py`: all implementations keep the same promises."""

import builtins
import functools
import importlib.util
import logging

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aiokafka_lite.codec import crc32c as module
from tests.support.twins import native_twin

# Around those at which the native routines take another step.
LENGTHS = [255, 256, 319, 320, 383, 384, 391, 511, 512, 767, 3071, 3072, 3073, 3456, 7000, 20_011]


@pytest.fixture(params=["chosen", "pure", "native", "native-1", "native-2", "native-3"])
def crc32c(request):
    match request.param:
        case "chosen":
            return module.crc32c
        case "pure":
            return module.crc32c_py
        case "native":
            return native_twin("aiokafka_lite.codec._crc32c").crc32c
        case _:
            twin, routine = native_twin("aiokafka_lite.codec._crc32c"), int(request.param[-1])
            if routine > twin.BEST:
                pytest.skip("this processor lacks the instruction")
            return functools.partial(twin.crc32c_by, routine)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", 0x00000000),
        (b"123456789", 0xE3069283),  # the CRC catalogue's check value of CRC-32/ISCSI
        (bytes(32), 0x8A9136AA),  # RFC 3720 B.4: 32 bytes of zeroes
        (b"\xff" * 32, 0x62A8AB43),  # ... of ones
        (bytes(range(32)), 0x46DD794E),  # ... incrementing
        (bytes(range(31, -1, -1)), 0x113FDB5C),  # ... decrementing
        (
            bytes.fromhex(  # ... an iSCSI SCSI read command
                "01c00000 00000000 00000000 00000000 14000000 00000400 00000014 00000018"
                "28000000 00000000 02000000 00000000"
            ),
            0xD9963A56,
        ),
    ],
)
def test_known_checksums(crc32c, data, expected):
    assert crc32c(data) == expected


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_bytes_are_taken(crc32c, kind):
    assert crc32c(kind(b"123456789")) == 0xE3069283


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=300), cut=st.integers(0, 300))
def test_both_agree_and_go_on_from_an_earlier_part(crc32c, data, cut):
    assert crc32c(data) == module.crc32c_py(data)
    assert crc32c(data[cut:], crc32c(data[:cut])) == module.crc32c_py(data)


@given(
    length=st.sampled_from(LENGTHS),
    start=st.integers(0, 7),
    seed=st.randoms(use_true_random=False),
)
@settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    max_examples=60,
)
def test_long_data_is_joined_from_parts_without_a_seam(crc32c, length, start, seed):
    """The native routines work on several parts at a time; unaligned, going on from `crc`."""
    data = memoryview(seed.randbytes(length + start))[start:]
    crc = seed.getrandbits(32)
    assert crc32c(data, crc) == module.crc32c_py(data, crc)


def test_bytes_that_are_not_in_one_piece_are_refused():
    with pytest.raises(BufferError):
        native_twin("aiokafka_lite.codec._crc32c").crc32c(memoryview(b"123456789")[::2])


@pytest.mark.parametrize("wrong", ["text", 7, None])
def test_what_is_no_bytes_is_a_type_error(wrong):
    with pytest.raises(TypeError):
        native_twin("aiokafka_lite.codec._crc32c").crc32c(wrong)


@pytest.mark.parametrize("wrong", [0, 4])
def test_routine_that_is_not_here_is_refused(wrong):
    with pytest.raises(ValueError, match="routines 1 to"):
        native_twin("aiokafka_lite.codec._crc32c").crc32c_by(wrong, b"data")


@pytest.mark.parametrize("wrong", [-1, 1 << 32])
def test_start_that_is_no_checksum_is_refused(wrong):
    with pytest.raises(OverflowError):
        native_twin("aiokafka_lite.codec._crc32c").crc32c(b"data", wrong)


def test_native_twin_is_chosen_where_it_was_built(monkeypatch):
    twin = native_twin("aiokafka_lite.codec._crc32c")
    monkeypatch.delenv("AIOKAFKA_LITE_PURE", raising=False)
    copy = _second_copy()
    assert copy.crc32c is twin.crc32c
    assert copy.USES_C


def _second_copy():
    spec = importlib.util.spec_from_file_location("second_copy_of_crc32c", module.__file__)
    assert spec is not None
    assert spec.loader is not None
    copy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    return copy


def _without_fastcrc(monkeypatch):
    """Load a second copy of the module where neither native twin nor fastcrc is to be had."""
    monkeypatch.setenv("AIOKAFKA_LITE_PURE", "1")
    real_import = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("fastcrc"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    return _second_copy()


def test_slow_routine_is_said_once_in_the_log_at_first_use(monkeypatch, caplog):
    copy = _without_fastcrc(monkeypatch)
    assert not copy.USES_C
    with caplog.at_level(logging.WARNING):
        assert not caplog.records
        assert copy.crc32c(b"123456789") == 0xE3069283
        copy.crc32c(b"again")
    (record,) = caplog.records
    assert record.getMessage() == (
        "record checksums are computed in pure Python, at some 20 MB/s; install fastcrc,"
        " which computes them in native code"
    )
