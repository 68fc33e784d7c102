"""Guesses how far the records of a topic shrink, so that a compressed batch uses its room. Plain.

Source: CompressionRatioEstimator, and the safety factor of MemoryRecordsBuilder.
"""

_SAFETY = 1.05
_WORSENS_BY = 0.05
_IMPROVES_BY = 0.005
_MOST_ROOM = 16
"""A batch is gathered in at most that many times its size: memory is taken before it shrinks."""


class CompressionRatios:
    """Compressed / uncompressed size by topic, for one codec; 1.0 until something was seen."""

    def __init__(self) -> None:
        self._ratios: dict[str, float] = {}

    def ratio(self, topic: str) -> float:
        """Return the present guess."""
        return self._ratios.get(topic, 1.0)

    def observe(self, topic: str, uncompressed_bytes: int, compressed_bytes: int) -> None:
        """Learn from a batch: fast when it was worse than guessed, slowly when it was better."""
        observed = compressed_bytes / max(1, uncompressed_bytes)
        guess = self.ratio(topic)
        if observed > guess:
            guess = max(guess + _WORSENS_BY, observed)
        else:
            guess = max(guess - _IMPROVES_BY, observed)
        self._ratios[topic] = guess

    def was_too_large(self, topic: str) -> None:
        """Expect nothing of compression for now: a batch was refused for its size (2d-14)."""
        self._ratios[topic] = max(1.0, self.ratio(topic))

    def uncompressed_room(self, topic: str, compressed_bytes: int) -> int:
        """Return how many bytes of records give about `compressed_bytes`."""
        factor = min(1 / (self.ratio(topic) * _SAFETY), _MOST_ROOM)
        return int(compressed_bytes * factor)

    def compressed_size(self, topic: str, uncompressed_bytes: int) -> int:
        """Return what `uncompressed_bytes` of records will be, rather too much than too little."""
        return int(uncompressed_bytes * min(1.0, self.ratio(topic) * _SAFETY))


__all__ = ["CompressionRatios"]
