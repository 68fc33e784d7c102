"""An error about a missing right names the right that the call needs, whatever the broker said."""

import pytest

from aiokafka_lite.admin.calls.missing_rights import with_right
from aiokafka_lite.admin.calls.outcomes import broker_error
from aiokafka_lite.errors import (
    BrokerResponseError,
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    TopicAlreadyExistsError,
    TopicAuthorizationFailedError,
)

NEEDS = "the user of this client needs"


@pytest.mark.parametrize(
    ("what", "kind", "message", "subject", "text"),
    [
        (
            "delete_topics()",
            TopicAuthorizationFailedError,
            None,
            "topic 'a'",
            f"topic 'a': {NEEDS} DELETE on the topic; grant it",
        ),
        (
            "delete_topics()",
            TopicAuthorizationFailedError,
            "bob may not DESCRIBE topic 'a'.",
            "topic 'a'",
            f"bob may not DESCRIBE topic 'a': {NEEDS} DELETE on the topic; grant it",
        ),
        (
            "list_offsets()",
            TopicAuthorizationFailedError,
            None,
            "partition 'a-0'",
            f"partition 'a-0': {NEEDS} DESCRIBE on the topic; grant it",
        ),
        (
            "delete_consumer_group_offsets()",
            GroupAuthorizationFailedError,
            GroupAuthorizationFailedError.description,  # a message made by the client
            "group 'g'",
            f"group 'g': {NEEDS} DELETE on the group; grant it",
        ),
        (
            "create_acls()",
            ClusterAuthorizationFailedError,
            None,
            "rule",
            f"rule: {NEEDS} ALTER on the cluster; grant it",
        ),
    ],
)
def test_texts(
    what: str, kind: type[BrokerResponseError], message: str | None, subject: str, text: str
) -> None:
    error = broker_error(kind.errno, message, subject)
    named = with_right(what, error)
    assert type(named) is kind
    assert named.args == (text,)


def test_an_error_without_a_text_names_the_call() -> None:
    named = with_right("list_groups()", GroupAuthorizationFailedError())
    assert named.args == (f"list_groups(): {NEEDS} DESCRIBE on the group; grant it",)


def test_other_outcomes_stay_as_they_are() -> None:
    for outcome in (None, 5, TopicAlreadyExistsError("a")):
        assert with_right("create_topics()", outcome) is outcome
