"""CPU time of work in this process, in rounds that take turns, so that noise hits all alike.

As in timeit, the garbage collector waits until a round is over.
"""

import asyncio
import gc
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

Work = Callable[[], Awaitable[object]]


async def interleaved(
    works: Mapping[str, Work],
    *,
    rounds: int,
    times: int,
    warm: int = 3,
    pick: Callable[[Sequence[float]], float] = statistics.median,
) -> dict[str, float]:
    """The CPU time of each work in microseconds, all of them measured in every round.

    `pick` chooses among its rounds; the least one is what others on the machine disturbed least.
    """
    found: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        for _ in range(warm):
            await work()
    for _ in range(rounds):
        for name, work in works.items():
            gc.collect()
            gc.disable()
            begun = time.process_time()
            for _ in range(times):
                await work()
            found[name].append((time.process_time() - begun) / times * 1e6)
            gc.enable()
    return {name: pick(times) for name, times in found.items()}


def run(works: Mapping[str, Work], *, rounds: int = 9, times: int = 40) -> dict[str, float]:
    """The same, in an event loop of its own."""
    return asyncio.run(interleaved(works, rounds=rounds, times=times))
