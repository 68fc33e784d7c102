"""Tests of `codec/crc32c.py`: both implementations keep the same promises."""

import builtins
import importlib.util
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.codec import crc32c as module

IMPLEMENTATIONS = [module.crc32c, module.crc32c_py]


@pytest.fixture(params=IMPLEMENTATIONS, ids=["chosen", "python"])
def crc32c(request):
    return request.param


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


@given(data=st.binary(max_size=300), cut=st.integers(0, 300))
def test_both_agree_and_go_on_from_an_earlier_part(data, cut):
    expected = module.crc32c(data)
    assert module.crc32c_py(data) == expected
    for implementation in IMPLEMENTATIONS:
        assert implementation(data[cut:], implementation(data[:cut])) == expected


def _without_fastcrc(monkeypatch):
    """Load a second copy of the module where fastcrc is not installed."""
    real_import = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("fastcrc"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    spec = importlib.util.spec_from_file_location("crc32c_without_fastcrc", module.__file__)
    copy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    return copy


def test_slow_routine_is_said_once_in_the_log_at_first_use(monkeypatch, caplog):
    copy = _without_fastcrc(monkeypatch)
    assert not copy.USES_C
    with caplog.at_level(logging.WARNING):
        assert not caplog.records
        assert copy.crc32c(b"123456789") == 0xE3069283
        copy.crc32c(b"again")
    (record,) = caplog.records
    assert record.getMessage() == (
        "record checksums are computed in pure Python, at some 20 MB/s; install"
        " aiokafka-lite[fast] to have them computed by fastcrc"
    )
