"""docs/threat-model.md names files that exist, and the limits that they have."""

import re
from typing import Final

import pytest

from aiokafka_lite.compression.output_bound import DEFAULT_MAX_DECOMPRESSED_BYTES
from aiokafka_lite.net.sasl import authentication, scram
from aiokafka_lite.net.sasl.tokens import oidc, token_endpoint, token_file
from aiokafka_lite.protocol.frame import MAX_FRAME_BYTES
from aiokafka_lite.schema_registry import registry_exchange, schema_registry_client
from tests.support.documents import ROOT

PAGE: Final = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
MIB: Final = 1 << 20
LIMITS: Final = {
    "100 MiB (a consumer": MAX_FRAME_BYTES == 100 * MIB,
    "128 MiB for one batch": DEFAULT_MAX_DECOMPRESSED_BYTES == 128 * MIB,
    "16,384 rounds": scram.MAX_ITERATIONS == 16_384,
    "at least 4,096 rounds": scram.MIN_ITERATIONS == 4_096,
    "32 tokens": authentication.MOST_TOKENS == 32,
    "1 MiB.": token_endpoint.MOST_BYTES == MIB,
    "(3.5 s)": oidc.FETCH_TIMEOUT_S == 3.5,
    "16 MiB of an answer": registry_exchange.MOST_BYTES == 16 * MIB,
    "1,000 are remembered": schema_registry_client.MOST_UNKNOWN == 1_000,
    "reads 64 KiB at most": token_file.MOST_BYTES == 64 << 10,
}


def test_a_named_file_exists() -> None:
    paths = re.findall(r"`([\w/]+\.py)`", PAGE)
    assert len(paths) > 10
    assert [path for path in paths if not (ROOT / "aiokafka_lite" / path).exists()] == []


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_is_that_of_the_code(limit: str) -> None:
    assert limit in PAGE
    assert LIMITS[limit]
