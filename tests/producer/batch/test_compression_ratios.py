from aiokafka_lite.producer.batch.compression_ratios import CompressionRatios


def test_the_first_guess_is_that_nothing_shrinks() -> None:
    """A topic starts with the estimate that compression saves nothing (2d-2)."""
    ratios = CompressionRatios()
    assert ratios.ratio("t") == 1.0
    assert ratios.compressed_size("t", 1000) == 1000
    assert ratios.uncompressed_room("t", 1000) < 1000


def test_better_is_believed_slowly() -> None:
    """A better compression ratio lowers the estimate slowly (2d-2)."""
    ratios = CompressionRatios()
    ratios.observe("t", 1000, 300)
    assert ratios.ratio("t") == 0.995
    for _ in range(1000):
        ratios.observe("t", 1000, 300)
    assert ratios.ratio("t") == 0.3


def test_worse_is_believed_at_once() -> None:
    """A worse compression ratio raises the estimate at once (2d-2)."""
    ratios = CompressionRatios()
    for _ in range(1000):
        ratios.observe("t", 1000, 100)
    ratios.observe("t", 1000, 110)
    assert round(ratios.ratio("t"), 6) == 0.15
    ratios.observe("t", 1000, 900)
    assert ratios.ratio("t") == 0.9


def test_topics_are_apart() -> None:
    ratios = CompressionRatios()
    ratios.observe("a", 1000, 300)
    assert ratios.ratio("b") == 1.0


def test_room_grows_as_records_shrink_up_to_a_bound() -> None:
    ratios = CompressionRatios()
    for _ in range(1000):
        ratios.observe("t", 100_000, 1)
    assert ratios.uncompressed_room("t", 1000) == 16_000
    for _ in range(1000):
        ratios.observe("half", 1000, 500)
    assert ratios.uncompressed_room("half", 1000) == int(1000 / (0.5 * 1.05))


def test_after_a_batch_that_was_too_large_nothing_is_expected_to_shrink() -> None:
    """After a batch that was too large, no compression is expected for now (2d-2, 2d-14)."""
    ratios = CompressionRatios()
    ratios.observe("orders", 1000, 100)
    ratios.was_too_large("orders")
    assert ratios.ratio("orders") == 1.0
    ratios.observe("orders", 1000, 1200)
    ratios.was_too_large("orders")
    assert ratios.ratio("orders") == 1.2
