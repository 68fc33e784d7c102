"""Names of APIs and errors, in the spellings that people use."""

import pytest

from aiokafka_lite.broker_errors import kafka_errors
from aiokafka_lite.errors import KafkaError, NotLeaderForPartitionError
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.testing.broker.fault_names import api_key_of, error_code_of


@pytest.mark.parametrize(
    "api", ["FindCoordinator", "FIND_COORDINATOR", "find-coordinator", "FindCoordinatorRequest", 10]
)
def test_an_api_has_many_spellings(api: str | int) -> None:
    assert api_key_of(api) == ApiKey.FIND_COORDINATOR
    assert api_key_of(FetchRequest) == ApiKey.FETCH


@pytest.mark.parametrize(
    "error",
    [
        "NOT_LEADER_OR_FOLLOWER",
        "not leader or follower",
        "NotLeaderForPartitionError",
        NotLeaderForPartitionError,
        6,
    ],
)
def test_an_error_has_many_spellings(error: str | int | type[NotLeaderForPartitionError]) -> None:
    assert error_code_of(error) == 6


def test_every_name_leads_to_its_own_number() -> None:
    assert [api_key_of(key.name) for key in ApiKey] == list(ApiKey)
    errors = {code: error for code, error in kafka_errors.items() if code}
    assert [error_code_of(error.message) for error in errors.values()] == list(errors)
    assert [error_code_of(error.__name__) for error in errors.values()] == list(errors)


def test_an_unknown_name_is_told_with_the_nearest_ones() -> None:
    with pytest.raises(ValueError, match=r"'Produc' is no API of Kafka; did you mean Produce"):
        api_key_of("Produc")
    with pytest.raises(ValueError, match=r"'NOT_LEADER' .* did you mean NOT_LEADER_OR_FOLLOWER\?"):
        error_code_of("NOT_LEADER")


def test_a_name_like_no_other_is_told_with_all_of_them() -> None:
    with pytest.raises(ValueError, match=r"pass one of Produce, Fetch, ListOffsets, .*Heartbeat"):
        api_key_of("xyzzy")
    with pytest.raises(ValueError, match=r"pass one of UNKNOWN_SERVER_ERROR, .*FENCED_"):
        error_code_of("zz")


def test_no_error_is_no_error() -> None:
    with pytest.raises(ValueError, match="'NONE' is no error"):
        error_code_of("NONE")


@pytest.mark.parametrize("wrong", [None, 1.5, KafkaError, ["Fetch"]])
def test_other_values_are_refused_with_what_to_pass(wrong: object) -> None:
    with pytest.raises(TypeError, match="pass its name, such as 'Produce'"):
        api_key_of(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="pass its name, such as 'NOT_LEADER_OR_FOLLOWER'"):
        error_code_of(wrong)  # type: ignore[arg-type]
