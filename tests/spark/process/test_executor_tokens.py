"""The tokens of a planning process: made once, renewed in time, replaced at their greatest age."""

import logging
from collections.abc import Mapping
from typing import Any

import pytest

from aiokafka_lite.admin import DelegationToken
from aiokafka_lite.errors import ClusterAuthorizationFailedError, KafkaConfigurationError
from aiokafka_lite.secret import Secret
from aiokafka_lite.spark.options.sealed_properties import SECURITY, SealedProperties
from aiokafka_lite.spark.process.executor_tokens import ExecutorTokens
from aiokafka_lite.testing.fake_clock import FakeClock

HOUR_S = 3600
HOUR_MS = HOUR_S * 1000
ISSUED_MS = 1_800_000_000_000
"""By the broker's clock, which is not ours."""
SCRAM = "SCRAM-SHA-512"


class StubCluster:
    """Gives tokens of four hours that live for ten; each has its number as its id."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.asked: list[str] = []
        self.made = 0
        self.refuses = False

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        if self.refuses:
            raise ClusterAuthorizationFailedError("no right")

    def _now_ms(self) -> int:
        return ISSUED_MS + int(self.clock.monotonic() * 1000)

    def create(self, client: Mapping[str, object]) -> DelegationToken:
        self._ask("create")
        self.made += 1
        now_ms = self._now_ms()
        until = (now_ms + 4 * HOUR_MS, now_ms + 10 * HOUR_MS)
        return DelegationToken(f"token-{self.made}", b"hmac", "User:alice", now_ms, *until, ())

    def renew(self, client: Mapping[str, object], token: DelegationToken) -> int:
        self._ask(f"renew {token.token_id}")
        return min(self._now_ms() + 4 * HOUR_MS, token.max_timestamp)


@pytest.fixture
async def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def cluster(clock: FakeClock) -> StubCluster:
    return StubCluster(clock)


@pytest.fixture
def tokens(clock: FakeClock, cluster: StubCluster) -> ExecutorTokens:
    return ExecutorTokens(cluster, clock)


def client(password: str = "hunter2", servers: str = "h:1") -> dict[str, Any]:
    own = {"security.protocol": "SASL_PLAINTEXT", "sasl.jaas.config": password}
    sealed = SealedProperties({name: Secret(value) for name, value in own.items()})
    return {"bootstrap_servers": servers, SECURITY: sealed}


def of(tokens: ExecutorTokens, **given: str) -> str:
    """Return the id of the token that executors get for a user."""
    options = tokens.for_executors(client(**given), SCRAM).client_options()
    assert options["sasl_plain_password"] == Secret("aG1hYw==")
    assert (options["sasl_mechanism"], options["sasl_scram_tokenauth"]) == (SCRAM, True)
    return str(options["sasl_plain_username"])


async def test_a_user_of_a_cluster_has_one_token(
    tokens: ExecutorTokens, cluster: StubCluster
) -> None:
    assert [of(tokens), of(tokens)] == ["token-1", "token-1"]
    assert of(tokens, password="another") == "token-2"
    assert of(tokens, servers="other:1") == "token-3"
    assert cluster.asked == ["create"] * 3


async def test_a_token_is_renewed_after_three_quarters_of_its_time_and_then_replaced(
    tokens: ExecutorTokens, cluster: StubCluster, clock: FakeClock
) -> None:
    used = []
    for _ in range(25):  # half an hour each
        used.append(of(tokens))
        await clock.advance(HOUR_S / 2)
    # renewed at 3 h until 7 h, at 6 h until its end at 10 h; three quarters of that are over at 9 h
    assert cluster.asked == ["create", "renew token-1", "renew token-1", "create", "renew token-2"]
    assert used == ["token-1"] * 18 + ["token-2"] * 7


async def test_a_renewal_that_fails_is_a_warning_while_the_token_is_valid(
    tokens: ExecutorTokens,
    cluster: StubCluster,
    clock: FakeClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    of(tokens)
    cluster.refuses = True
    await clock.advance(3.5 * HOUR_S)
    with caplog.at_level(logging.WARNING):
        assert of(tokens) == "token-1"
    assert "the delegation token is not renewed yet: no right" in caplog.text
    await clock.advance(HOUR_S)
    with pytest.raises(KafkaConfigurationError, match=r"delegationToken: .* no token: no right"):
        of(tokens)
    cluster.refuses = False
    assert of(tokens) == "token-2"


async def test_a_cluster_without_tokens_is_an_error_with_the_remedy(
    tokens: ExecutorTokens, cluster: StubCluster
) -> None:
    cluster.refuses = True
    with pytest.raises(KafkaConfigurationError, match=r"delegation\.token\.secret\.key on the b"):
        of(tokens)
