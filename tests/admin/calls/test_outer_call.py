"""The name of the outermost call stands while its steps run."""

import pytest

from aiokafka_lite.admin.calls.outer_call import OUTER_CALL, of_several_steps
from aiokafka_lite.errors import IllegalStateError, KafkaConnectionError


class Admin:
    """Has calls of several steps."""

    def __init__(self) -> None:
        self.is_closed = False

    def _running(self) -> None:
        if self.is_closed:
            raise IllegalStateError("it takes no calls now")

    @of_several_steps
    async def inner(self) -> str:
        return OUTER_CALL.get()

    @of_several_steps
    async def outer(self, failure: Exception | None = None, *, closes: bool = False) -> str:
        if failure is not None:
            raise failure
        self.is_closed = closes
        return await self.inner()


async def test_the_outermost_call_is_named_until_it_ends() -> None:
    admin = Admin()
    assert await admin.inner() == "inner()"
    assert await admin.outer() == "outer()"
    with pytest.raises(ValueError, match="no"):
        await admin.outer(ValueError("no"))
    assert OUTER_CALL.get() == ""


async def test_a_call_whose_client_is_closed_between_two_steps_fails_as_one_that_waits() -> None:
    admin = Admin()
    with pytest.raises(IllegalStateError, match="another loop"):
        await admin.outer(IllegalStateError("another loop"))
    with pytest.raises(KafkaConnectionError, match="the client is closed"):
        await admin.outer(closes=True)
    with pytest.raises(IllegalStateError, match="takes no calls"):
        await admin.outer()
    assert OUTER_CALL.get() == ""
