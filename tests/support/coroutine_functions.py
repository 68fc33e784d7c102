"""How programs ask whether a function returns a coroutine."""

import asyncio
import inspect
import sys

# asyncio's function is deprecated from 3.14 on. Up to 3.11, that of inspect does not know the mark.
is_coroutine_function = (
    inspect.iscoroutinefunction if sys.version_info >= (3, 12) else asyncio.iscoroutinefunction
)

__all__ = ["is_coroutine_function"]
