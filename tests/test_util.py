"""The helpers of `aiokafka.util`."""

import aiokafka.util

from aiokafka_lite import util


async def test_they_do_what_aiokafkas_do() -> None:
    assert set(util.__all__) <= set(vars(aiokafka.util))
    assert util.INTEGER_MAX_VALUE == aiokafka.util.INTEGER_MAX_VALUE
    assert util.INTEGER_MIN_VALUE == aiokafka.util.INTEGER_MIN_VALUE
    future = util.create_future()
    assert future.get_loop() is util.get_running_loop()
    future.cancel()

    async def answer() -> int:
        return 42

    assert await util.create_task(answer()) == 42
