"""The name of the outermost call stands while its steps run."""

import pytest

from aiokafka_lite.admin.calls.outer_call import OUTER_CALL, of_several_steps


@of_several_steps
async def inner() -> str:
    return OUTER_CALL.get()


@of_several_steps
async def outer(*, fails: bool = False) -> str:
    if fails:
        raise ValueError("no")
    return await inner()


async def test_the_outermost_call_is_named_until_it_ends() -> None:
    assert await inner() == "inner()"
    assert await outer() == "outer()"
    with pytest.raises(ValueError, match="no"):
        await outer(fails=True)
    assert OUTER_CALL.get() == ""
