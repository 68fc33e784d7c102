"""The bomb guard the codecs share: how large an output may become, and its errors.

A compressed batch of a few kilobytes can claim, or really hold, gigabytes. Every codec here learns
the size from the frame's own headers where they say it, refuses a claim beyond the bound before
allocating, and stops at the bound where nothing was claimed.
"""

from typing import Final, NoReturn

from aiokafka_lite.errors import CorruptRecordException

DEFAULT_MAX_DECOMPRESSED_BYTES: Final = 128 * 1024 * 1024
"""Bound of one decompressed batch.

Batches are at most the broker's `message.max.bytes` (1 MiB by default) *compressed*; a topic that
raises it to the usual 10 MiB still has a ratio of 12 here, real data's being 3 to 8.
"""


def raise_too_large(codec: str, compressed_size: int, max_size: int, claimed: int = 0) -> NoReturn:
    """Raise CorruptRecordException for an output beyond `max_size` bytes.

    `claimed` is the size a header says, if one does.
    """
    size = f"{claimed:,} bytes" if claimed else "more"
    raise CorruptRecordException(
        f"{codec} data of {compressed_size:,} bytes decompresses to {size}, the bound is"
        f" {max_size:,} bytes; raise max_decompressed_bytes if the batch is genuine"
    )


def raise_malformed(codec: str, reason: object) -> NoReturn:
    """Raise CorruptRecordException for bytes which are not what the codec says.

    `reason` is a word or the library's error, which becomes the cause.
    """
    error = CorruptRecordException(f"malformed {codec} data: {reason}")
    raise error from reason if isinstance(reason, BaseException) else None


__all__ = ["DEFAULT_MAX_DECOMPRESSED_BYTES", "raise_malformed", "raise_too_large"]
