"""What ShareFetch and ShareAcknowledge ask of the client's rights."""

from aiokafka_lite.testing.broker.security.acl import ResourceType
from aiokafka_lite.testing.broker.security.session import Session
from tests.testing.broker.share_bench import ShareBench


class _Refusing:
    """Rights to everything but one kind of resource."""

    def __init__(self, refused: ResourceType) -> None:
        self._refused = refused

    def allows(self, *asked: object) -> bool:
        return self._refused not in asked


def refusing(kind: ResourceType) -> Session:
    return Session(authorizer=_Refusing(kind))  # type: ignore[arg-type]


def test_a_group_and_each_topic_need_the_right_to_read() -> None:
    bench = ShareBench()
    assert bench.fetch(session=refusing(ResourceType.GROUP)).error_code == 30
    answer = bench.fetch(session=refusing(ResourceType.TOPIC))
    assert answer.error_code == 0
    assert [each.error_code for each in answer.responses[0].partitions] == [29]
