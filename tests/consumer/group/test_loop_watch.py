"""A blocked event loop is noticed by a timer that comes late, on a clock that stands still."""

import pytest

from aiokafka_lite.consumer.group.loop_watch import LoopWatch
from aiokafka_lite.testing.fake_clock import FakeClock, settle


class Scene:
    """A watch that looks each second, and warns of blocks as long as a heartbeat interval, 3 s."""

    def __init__(self, heartbeat_s: float = 3.0) -> None:
        self.clock = FakeClock(100.0)
        self.is_wanted = True
        self.watch = LoopWatch(self.clock, "'app'", heartbeat_s, lambda: self.is_wanted)

    async def block(self, seconds: float) -> None:
        """Let time go by without the loop having its turn."""
        self.clock._now += seconds
        await self.clock.advance(0)
        await settle()


async def test_a_loop_that_runs_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    scene = Scene()
    scene.watch.start()
    scene.watch.start()
    await scene.clock.advance(60)
    assert scene.clock.pending_timers == 1
    assert caplog.text == ""
    assert scene.watch.blocked_s(0) == 0
    scene.watch.stop()
    scene.watch.stop()
    assert scene.clock.pending_timers == 0


async def test_a_blocked_loop_is_logged_with_the_seconds_whose_it_is_and_the_remedy(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scene = Scene()
    scene.watch.start()
    await scene.clock.advance(10)
    await scene.block(15.5)
    assert (
        "'app': the event loop was blocked for at least 14.5 s; heartbeats could not be sent"
        in caplog.text
    )
    assert "asyncio.to_thread" in caplog.text
    await scene.clock.advance(10)
    assert caplog.text.count("blocked") == 1
    scene.watch.stop()


async def test_what_blocks_took_is_added_up_from_a_moment_on() -> None:
    scene = Scene()
    scene.watch.start()
    await scene.block(5)
    await scene.clock.advance(10)
    after_the_first_s = scene.clock.monotonic()
    await scene.block(7)
    assert scene.watch.blocked_s(100.0) == pytest.approx(10)
    assert scene.watch.blocked_s(after_the_first_s) == pytest.approx(6)
    assert scene.watch.blocked_s(scene.clock.monotonic()) == 0
    scene.watch.stop()


@pytest.mark.parametrize("heartbeat_s", [0.02, 3.0])
async def test_a_short_block_is_nobodys_business(
    heartbeat_s: float, caplog: pytest.LogCaptureFixture
) -> None:
    """Also where heartbeats are sent many times a second: a busy machine is no news."""
    scene = Scene(heartbeat_s)
    scene.watch.start()
    await scene.block(0.9)
    assert caplog.records == []
    scene.watch.stop()


async def test_it_looks_only_while_it_is_wanted() -> None:
    scene = Scene()
    scene.watch.start()
    scene.is_wanted = False
    await scene.clock.advance(2)
    assert scene.clock.pending_timers == 0
    scene.is_wanted = True
    scene.watch.start()
    await scene.block(10)
    assert scene.watch.blocked_s(0) == pytest.approx(9)
    scene.watch.stop()
