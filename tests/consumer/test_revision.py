"""The number that subscription and buffer share."""

from aiokafka_lite.consumer.fetch.fetch_buffer import FetchBuffer
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.consumer.revision import Revision


def test_a_change_of_either_is_seen_in_the_one_number() -> None:
    revision = Revision()
    subscription, buffer = SubscriptionState(None, revision), FetchBuffer(revision)
    assert subscription.revision is buffer.revision is revision
    before = revision.number
    subscription.unsubscribe()
    assert revision.number == before + 1
