"""Limits the output of every codec, words the errors, and tells of bytes that were stepped over.

A compressed batch of a few kilobytes can claim gigabytes, or really hold them. Each codec reads the
size from the frame's headers, if they state it. It refuses a size above the limit before it
allocates memory. If the headers state no size, it stops at the limit.
"""

import logging
from typing import Final, NoReturn

from aiokafka_lite.errors import CorruptRecordException

logger = logging.getLogger(__name__)

_told_tails: Final[set[str]] = set()

DEFAULT_MAX_DECOMPRESSED_BYTES: Final = 128 * 1024 * 1024
"""The limit for one decompressed batch.

A compressed batch is at most `message.max.bytes` of the broker, 1 MiB by default. A topic with the
usual 10 MiB may still expand by a factor of 12. Real data expands by 3 to 8.
"""


def raise_too_large(codec: str, compressed_size: int, max_size: int, claimed: int = 0) -> NoReturn:
    """Raise CorruptRecordException for an output beyond `max_size` bytes.

    `claimed` is the size that a header states, if one does.
    """
    size = f"{claimed:,} bytes" if claimed else "more"
    raise CorruptRecordException(
        f"{codec} data of {compressed_size:,} bytes decompresses to {size}, the bound is"
        f" {max_size:,} bytes; raise max_decompressed_bytes if the batch is genuine"
    )


def raise_malformed(codec: str, reason: object) -> NoReturn:
    """Raise CorruptRecordException for bytes that break the codec's format.

    `reason` is a word, or the library's error, which becomes the cause.
    """
    error = CorruptRecordException(f"malformed {codec} data: {reason}")
    raise error from reason if isinstance(reason, BaseException) else None


def note_tail(codec: str, size: int) -> None:
    """Log that bytes behind the compressed data were stepped over, once for each codec."""
    if codec not in _told_tails:
        _told_tails.add(codec)
        logger.warning(
            "%d bytes behind %s data were stepped over, as Java's client does. The producer of"
            " these batches adds them, or a proxy. This is logged once for each codec.",
            *(size, codec),
        )


__all__ = ["DEFAULT_MAX_DECOMPRESSED_BYTES", "note_tail", "raise_malformed", "raise_too_large"]
