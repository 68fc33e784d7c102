"""Wrong settings are named all at once."""

from typing import Any

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from tests.share.share_kafka import ShareKafka, run_share
from tests.workers.share.share_pool import SharePool


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        (
            {"concurrency": 0, "max_records": True},
            r"concurrency=0 is .*; max_records=True is not a",
        ),
        ({"concurrency": 5, "max_records": 4}, "max_records=4 is less than concurrency=5"),
    ],
)
def test_a_fault_is_named(settings: dict[str, Any], fault: str) -> None:
    async def main(share: ShareKafka) -> None:
        with pytest.raises(KafkaConfigurationError, match=fault):
            SharePool(share, **settings)

    run_share(main)
