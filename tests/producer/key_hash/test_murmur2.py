"""The hash Java's client partitions by, in each of its twins."""

from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aiokafka_lite.producer.key_hash import _murmur2_py
from tests.support.twins import native_twin

FOR_EACH_TWIN = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)


@pytest.fixture(params=["pure", "native"])
def twin(request: pytest.FixtureRequest) -> ModuleType:
    return (
        _murmur2_py
        if request.param == "pure"
        else native_twin("aiokafka_lite.producer.key_hash._murmur2")
    )


# From Java's UtilsTest.testMurmur2, signed as Java has them.
JAVA_HASHES = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


@pytest.mark.parametrize(("key", "java"), JAVA_HASHES.items())
def test_hash_is_javas(twin: ModuleType, key: bytes, java: int) -> None:
    """The hash of a key is that of Java's client, so keys keep their partitions (2d-4)."""
    assert twin.murmur2(key) == java & 0xFFFFFFFF


def reference_murmur2(data: bytes) -> int:
    """Java's code, line by line."""
    m, h = 0x5BD1E995, 0x9747B28C ^ len(data)
    for i in range(len(data) // 4):
        k = int.from_bytes(data[4 * i : 4 * i + 4], "little")
        k = k * m % 2**32
        k ^= k >> 24
        k = k * m % 2**32
        h = h * m % 2**32
        h ^= k
    rest = data[len(data) // 4 * 4 :]
    if rest:
        h ^= int.from_bytes(rest, "little")
        h = h * m % 2**32
    h ^= h >> 13
    h = h * m % 2**32
    return h ^ h >> 15


@FOR_EACH_TWIN
@given(key=st.binary(max_size=300))
def test_hash_is_javas_for_any_key(twin: ModuleType, key: bytes) -> None:
    assert twin.murmur2(key) == reference_murmur2(key)


@FOR_EACH_TWIN
@given(keys=st.lists(st.binary(max_size=100)))
def test_hashes_of_keys_are_those_without_sign(twin: ModuleType, keys: list[bytes]) -> None:
    hashes = twin.KeyHashes()
    for key in keys * 2:
        assert hashes[key] == twin.murmur2(key) & 0x7FFFFFFF


def test_kept_hashes_are_bounded_in_number_and_in_size() -> None:
    hashes = _murmur2_py.KeyHashes()
    for number in range(20_000):
        hashes[b"%d" % number]
    assert 0 < len(hashes) <= 8192
    hashes[b"long" * 100]
    assert b"long" * 100 not in hashes


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_any_bytes_are_hashed(twin: ModuleType, kind: type) -> None:
    assert twin.murmur2(kind(b"foobar")) == -790332482 & 0xFFFFFFFF


@pytest.mark.parametrize("wrong", ["text", None])
def test_what_is_no_bytes_is_a_type_error(twin: ModuleType, wrong: object) -> None:
    with pytest.raises(TypeError):
        twin.murmur2(wrong)
    with pytest.raises(TypeError):
        twin.KeyHashes()[wrong]
