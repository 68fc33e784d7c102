"""A share group's member has an id that brokers can parse, and that no tool takes for an option."""

from base64 import urlsafe_b64decode
from uuid import UUID

from aiokafka_lite.share.share_coordinator import make_member_id


def test_an_id_is_that_of_a_uuid() -> None:
    made = make_member_id()
    assert len(urlsafe_b64decode(made + "==")) == 16
    assert made != make_member_id()


def test_no_id_begins_with_a_dash() -> None:
    ids = iter([UUID(bytes=b"\xfb" * 16), UUID(int=0)])
    assert make_member_id(lambda: next(ids)) == "A" * 22
