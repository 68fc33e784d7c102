"""The hash of keys: the pure twin, tuned by hand. Does not wait."""

import struct

_UNPACK_WORDS = tuple(struct.Struct(f"<{words}I").unpack_from for words in range(17))
_KEPT_HASHES = 8192
_KEPT_KEY_BYTES = 64


def murmur2(data: bytes) -> int:
    """Return the hash Java's client partitions by, as an unsigned 32-bit number.

    Source: org.apache.kafka.common.utils.Utils.murmur2, which returns the same 32 bits signed.
    """
    # Literals, not names: this runs once per record. Masked only where higher bits would come
    # down again, that is before a shift to the right.
    length = len(data)
    words = length >> 2
    unpack = _UNPACK_WORDS[words] if words < 17 else struct.Struct(f"<{words}I").unpack_from
    h = 0x9747B28C ^ length
    for word in unpack(data):
        k = word * 0x5BD1E995 & 0xFFFFFFFF
        h = (h * 0x5BD1E995 ^ (k ^ k >> 24) * 0x5BD1E995) & 0xFFFFFFFF
    tail = length & 3
    if tail:
        at = words << 2
        if tail == 3:
            h ^= data[at + 2] << 16
        if tail >= 2:
            h ^= data[at + 1] << 8
        h = (h ^ data[at]) * 0x5BD1E995 & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0x5BD1E995 & 0xFFFFFFFF
    return h ^ h >> 15


class KeyHashes(dict[bytes, int]):
    """`hashes[key]`: what a keyed record's partition is the remainder of, murmur2 without sign.

    Keys repeat in most topics, so short ones are kept: found in a thirtieth of the time. Bounded;
    long keys, which would make it heavy, are hashed each time.
    """

    def __missing__(self, key: bytes) -> int:
        hashed = murmur2(key) & 0x7FFFFFFF
        if len(key) <= _KEPT_KEY_BYTES:
            if len(self) >= _KEPT_HASHES:
                self.clear()
            self[key] = hashed
        return hashed


__all__ = ["KeyHashes", "murmur2"]
