"""Chooses the short way of a record: the native twin if it was built, the pure one otherwise."""

import functools
from typing import TYPE_CHECKING

from aiokafka_lite.concurrency.coroutine_function import look_like_coroutine_function
from aiokafka_lite.native import native

_twin = native("aiokafka_lite.producer.accumulator._short_way")

if TYPE_CHECKING or _twin is None:
    from aiokafka_lite.producer.accumulator._short_way_py import (
        NO_MORE,
        RECORD_OVERHEAD,
        BulkCore,
        QueueCore,
        RouteCore,
        RoutesCore,
        SendMethods,
        ShortWay,
        StickyCore,
        TopicHold,
    )
else:
    from aiokafka_lite.producer.accumulator import _short_way_py

    NO_MORE = _twin.NO_MORE
    RECORD_OVERHEAD = _twin.RECORD_OVERHEAD
    BulkCore = _twin.BulkCore
    QueueCore = _twin.QueueCore
    RouteCore = _twin.RouteCore
    RoutesCore = _twin.RoutesCore
    SendMethods = _twin.SendMethods
    ShortWay = _twin.ShortWay
    StickyCore = _twin.StickyCore
    TopicHold = _twin.TopicHold
    for name in ("send", "send_nowait"):
        functools.update_wrapper(
            getattr(SendMethods, name), getattr(_short_way_py.SendMethods, name)
        )
    look_like_coroutine_function(SendMethods.send)

__all__ = [
    "NO_MORE",
    "RECORD_OVERHEAD",
    "BulkCore",
    "QueueCore",
    "RouteCore",
    "RoutesCore",
    "SendMethods",
    "ShortWay",
    "StickyCore",
    "TopicHold",
]
