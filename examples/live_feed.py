"""Route on travel times that another process writes into shared memory, many times a second.

The writer increments a counter before and after it writes, so the counter is odd while it is writing. The reader copies
the weights, and uses the copy only if the counter is even and has not changed in the meantime. So every update of the
router has the complete weights of one moment, and neither side waits for a lock. This needs a processor that keeps
writes in order, such as x86; on others, such as ARM, hold a lock around both.

Run it: python examples/live_feed.py
"""

import time
from multiprocessing import get_context
from multiprocessing.shared_memory import SharedMemory

import numpy as np

import rhostar as rs

SIDE = 40


class Feed:
    """The weights of all edges in shared memory, and a number that is odd while they are written."""

    def __init__(self, m: int, name: str | None = None) -> None:
        self.memory = SharedMemory(name, create=name is None, size=8 + 8 * m)
        self.name, self.owner = self.memory.name, name is None
        self.number = np.ndarray(1, np.int64, self.memory.buf)
        self.weights = np.ndarray(m, np.float64, self.memory.buf, 8)

    def write(self, weights: np.ndarray) -> None:
        """Only one process may do this."""
        self.number += 1
        self.weights[:] = weights
        self.number += 1

    def read(self) -> tuple[int, np.ndarray]:
        """Return how often all weights were written, and a copy of those of one moment."""
        while True:
            before = int(self.number[0])
            copy = self.weights.copy()
            if before % 2 == 0 and int(self.number[0]) == before:
                return before // 2, copy
            time.sleep(0)  # somebody is writing

    def close(self) -> None:
        """Release the memory; it is freed by the process that created it."""
        del self.number, self.weights
        self.memory.close()
        if self.owner:
            self.memory.unlink()


def traffic(name: str, m: int, rounds: int) -> None:
    """Run in another process: all streets become slower together, and faster again."""
    feed = Feed(m, name)
    for k in range(rounds):
        feed.write(np.full(m, 1.0 + k % 5))
    feed.close()


def main() -> None:
    """Answer while the other process writes."""
    graph = rs.Graph.grid(SIDE, SIDE)
    feed = Feed(graph.m)
    feed.write(np.ones(graph.m))
    router = rs.Router(graph)
    writer = get_context("spawn").Process(target=traffic, args=(feed.name, graph.m, 2000))
    writer.start()
    updates, last, steps = 0, -1, 2 * (SIDE - 1)
    while writer.is_alive() or last < 2001:
        number, weights = feed.read()
        if number == last:
            time.sleep(0.001)
            continue
        router.update(weights)
        cost = router.route(0, graph.n - 1).cost
        assert cost / steps in (1.0, 2.0, 3.0, 4.0, 5.0), "all weights are of one moment"
        updates, last = updates + 1, number
    writer.join()
    feed.close()
    print(f"{last} times written, {updates} times taken; the last route costs {cost:.0f}")


if __name__ == "__main__":
    main()
