"""Runs a function on a set of instances in chunks, by joblib: in threads, or with the backend that joblib is set to.

The kernels run without the interpreter lock, so threads are enough on one machine. Under
``joblib.parallel_config(backend="dask")`` or ``"ray"`` the same chunks go to a cluster, in the same order and with the
same bits: :mod:`rhostar._travel` packs them, :mod:`rhostar._carriers` sends them.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np

from rhostar import _carriers as carriers
from rhostar import _checkpoints as checkpoints
from rhostar import _core
from rhostar import _travel as travel
from rhostar.errors import RhostarError
from rhostar.instances import InstanceSet

T = TypeVar("T")

_CHUNKS_PER_JOB = 4
"""More than one, because instances differ in cost."""

_CHUNKS_KEPT = 64
"""How many chunks there are while results are kept: a computation may be resumed with another number of jobs."""

_SECONDS_TO_BEGIN = 1.0
"""How long it waits for the first thread before it lets joblib wait: some backends begin only when they are asked."""


class _Watch:
    """The flags of the kernels that run at the moment, all set once the time is up."""

    def __init__(self, outer: _Watch | None) -> None:
        self.outer, self.lock, self.over = outer, threading.Lock(), False
        self.stops: list[_core.Stop] = []

    def end(self) -> None:
        with self.lock:
            self.over = True
            for stop in self.stops:
                stop.set()

    def add(self, stop: _core.Stop) -> None:
        with self.lock:
            self.stops.append(stop)
            if self.over:
                stop.set()
        if self.outer is not None:
            self.outer.add(stop)

    def remove(self, stop: _core.Stop) -> None:
        with self.lock:
            self.stops.remove(stop)
        if self.outer is not None:
            self.outer.remove(stop)


_watch: ContextVar[_Watch | None] = ContextVar("watch", default=None)


@contextmanager
def stopped_after(seconds: float) -> Iterator[None]:
    """Stop every kernel that runs in chunks inside the block once this many seconds have passed.

    It raises StoppedError then, as does every one that starts later. Workers of a cluster are not stopped.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar._parallel import stopped_after
    >>> graph = rs.Graph.grid(2, 2)
    >>> instances = rs.InstanceSet(graph, graph.length, sources=0, goal=3)
    >>> with stopped_after(60.0):
    ...     rs.solve_many(instances, np.zeros(4)).cost.tolist()
    [2.0]
    """
    watch = _Watch(_watch.get())
    timer = threading.Timer(min(max(seconds, 0.0), threading.TIMEOUT_MAX), watch.end)
    timer.daemon = True
    token = _watch.set(watch)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        _watch.reset(token)


@contextmanager
def _stop() -> Iterator[_core.Stop]:
    """Make a flag, which :func:`stopped_after` sets when the time is up."""
    stop, watch = _core.Stop(), _watch.get()
    if watch is not None:
        watch.add(stop)
    try:
        yield stop
    finally:
        if watch is not None:
            watch.remove(stop)


def map_chunks(
    function: Callable[..., T],
    instances: InstanceSet,
    /,
    *,
    n_jobs: int | None = None,
    multiple_of: int = 1,
    **arguments: Any,
) -> list[T]:
    """Call ``function(chunk, first, stop, **arguments)`` on parts of a set and return the results in order.

    If chunks raise errors, the error of the first chunk is raised, for any number of jobs; an error that is not one of
    rhostar gets a note that names the instances of its chunk. A worker process that dies loses nothing: its chunks are
    run again.

    Parameters
    ----------
    function
        A function defined in a module, so that it can be sent to another process. `first` is the number of
        the chunk's first instance; `stop` is a flag that ends all kernels that share it.
    instances
        The set.
    n_jobs
        As in joblib: None means 1 unless ``joblib.parallel_config`` says otherwise, -1 means
        all cores. On Dask and Ray, None means all cores of the cluster.
    multiple_of
        Every chunk but the last begins and ends at a multiple of this: sums taken in blocks of that
        size are then the same for any number of jobs.

    Raises
    ------
    RhostarError
        The error of the first chunk that failed, in the order of the set.
    KeyboardInterrupt
        At once, with all chunks stopped.
    WorkerError
        If the worker process of a chunk dies again and again.
    """
    jobs, backend = _jobs(n_jobs)
    kept = checkpoints.active() is not None
    if not kept and (_is_alone(jobs, backend) or len(instances) <= 1):
        with _stop() as stop:
            return [function(instances, 0, stop, **arguments)]
    cuts = _cuts(len(instances), _CHUNKS_KEPT if kept else jobs * _CHUNKS_PER_JOB, multiple_of)
    calls = {
        f"instances {begin} to {end - 1} of the set": (instances[begin:end], begin) for begin, end in pairwise(cuts)
    }
    found = _results(function, arguments, calls, jobs, backend, at_once=True)
    parts = [part for _, part in sorted(found, key=itemgetter(0))]
    # Which of several chunks fails first is a matter of timing; which of them is first in the set is not.
    for part in parts:
        if isinstance(part, travel.Failure):
            raise part.error
    return parts


def map_calls(
    function: Callable[..., T],
    calls: Mapping[str, tuple[Any, ...]],
    /,
    *,
    n_jobs: int | None = None,
    **arguments: Any,
) -> Iterator[T]:
    """Call ``function(*own, stop, **arguments)`` for each of the calls and return the results in order, as they come.

    Parameters
    ----------
    function
        A function defined in a module. `stop` is a flag that ends all kernels that share it.
    calls
        By name, for errors, the own arguments of each.
    n_jobs
        As for :func:`map_chunks`.

    Raises
    ------
    Exception
        What a call raised, when its turn comes, with a note that names the call.
    """
    jobs, backend = _jobs(n_jobs)
    early: dict[int, Any] = {}
    turn = 0
    for k, result in _results(function, arguments, calls, jobs, backend, at_once=False):
        early[k] = result
        while turn in early:
            part = early.pop(turn)
            if isinstance(part, travel.Failure):
                raise part.error
            turn += 1
            yield part


def _is_alone(jobs: int, backend: Any) -> bool:
    """Return whether everything runs on the calling thread; a cluster of one worker is still a cluster."""
    return backend is None or (jobs == 1 and not carriers.is_cluster(backend))


def _results(
    function: Callable[..., Any],
    arguments: dict[str, Any],
    calls: Mapping[str, tuple[Any, ...]],
    jobs: int,
    backend: Any,
    *,
    at_once: bool,
) -> Iterator[tuple[int, Any]]:
    """Return numbers of calls with their results, or a :class:`travel.Failure`, as they come.

    With `at_once`, the caller does nothing with results before all are there.
    """
    store = checkpoints.active()
    if store is not None:
        keys = [travel.content_hash(function, arguments, own) for own in calls.values()]
        left: dict[int, str] = {}
        for k, name in enumerate(calls):
            found = store.load(keys[k])
            if found is None:
                left[k] = name
            else:
                yield k, found[0]
        numbers = list(left)
        missing = {name: calls[name] for name in left.values()}
        for j, result in _computed(function, arguments, missing, jobs, backend, at_once=False):
            if not isinstance(result, travel.Failure):
                store.save(keys[numbers[j]], result)
            yield numbers[j], result
    else:
        yield from _computed(function, arguments, calls, jobs, backend, at_once=at_once)


def _computed(
    function: Callable[..., Any],
    arguments: dict[str, Any],
    calls: Mapping[str, tuple[Any, ...]],
    jobs: int,
    backend: Any,
    *,
    at_once: bool,
) -> Iterator[tuple[int, Any]]:
    if not calls:
        return
    if _is_alone(jobs, backend):
        yield from _one_by_one(function, arguments, calls)
    elif getattr(backend, "supports_sharedmem", False):
        yield from _in_threads(function, arguments, calls, jobs, at_once)
    else:
        for k, data in carriers.carrier(backend)(backend, travel.pack(function, arguments, calls), jobs):
            yield k, travel.unpack_result(data)


def _one_by_one(
    function: Callable[..., Any], arguments: dict[str, Any], calls: Mapping[str, tuple[Any, ...]]
) -> Iterator[tuple[int, Any]]:
    for k, (name, own) in enumerate(calls.items()):
        with _stop() as stop:
            result = travel.call(function, name, own, stop, arguments)
        yield k, result


def _cuts(size: int, count: int, multiple_of: int) -> list[int]:
    """Return where chunks begin and end, if there are to be at most `count` of them."""
    blocks = max(1, -(-size // multiple_of))
    cuts = np.linspace(0, blocks, min(blocks, count) + 1).astype(int) * multiple_of
    cuts[-1] = size
    found: list[int] = cuts.tolist()
    return found


def _in_threads(
    function: Callable[..., Any],
    arguments: dict[str, Any],
    calls: Mapping[str, tuple[Any, ...]],
    jobs: int,
    at_once: bool,
) -> Iterator[tuple[int, Any]]:
    from joblib import Parallel, delayed

    with _stop() as stop:
        counted = _Counted(_Caught(function, arguments, stop))
        tasks = (delayed(counted)(name, own) for name, own in calls.items())
        try:
            # The number is passed explicitly: given a preference but no backend, joblib forgets what parallel_config
            # said.
            results = Parallel(n_jobs=jobs, prefer="threads", return_as="generator", pre_dispatch="all")(tasks)
            if at_once:
                # joblib checks for results every 10 ms, but many batches take less: ask it once they are there.
                counted.wait_for(finished=len(calls))
                time.sleep(0.0005)  # the last of them is still being handed over
            yield from enumerate(results)
        except BaseException:
            stop.set()
            counted.wait_until_empty(seconds=2.0)
            raise


class _Caught:
    """A function that returns errors of rhostar instead of raising them; any other error ends all chunks."""

    def __init__(self, function: Callable[..., Any], arguments: dict[str, Any], stop: _core.Stop) -> None:
        self.function, self.arguments, self.stop = function, arguments, stop

    def __call__(self, name: str, own: tuple[Any, ...]) -> Any:
        result = travel.call(self.function, name, own, self.stop, self.arguments)
        if isinstance(result, travel.Failure) and not isinstance(result.error, RhostarError):
            raise result.error
        return result


class _Counted:
    """A function that counts the threads inside it.

    joblib does not wait for its threads when something is raised, and a thread that is still inside a
    kernel when Python ends would bring the process down.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.inside, self.finished, self.failed = function, 0, 0, False
        self.changed = threading.Condition()

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        with self.changed:
            self.inside += 1
            self.changed.notify_all()
        try:
            return self.function(*arguments, **options)
        except BaseException:
            self.failed = True
            raise
        finally:
            with self.changed:
                self.inside -= 1
                self.finished += 1
                self.changed.notify_all()

    def wait_for(self, finished: int) -> None:
        """Wait until `finished` calls have ended or one has failed; give up if none starts soon."""
        with self.changed:
            if self.changed.wait_for(lambda: self.inside or self.finished, _SECONDS_TO_BEGIN):
                self.changed.wait_for(lambda: self.finished == finished or self.failed)

    def wait_until_empty(self, seconds: float) -> None:
        """Wait until no thread is inside, for at most `seconds`."""
        with self.changed:
            self.changed.wait_for(lambda: self.inside == 0, seconds)


def _jobs(n_jobs: int | None) -> tuple[int, Any]:
    """Return how many chunks run at once, and the backend that joblib is set to."""
    # If joblib was never imported, it was never configured: skip the import.
    if n_jobs == 1 or (n_jobs is None and "joblib" not in sys.modules):
        return 1, None
    from joblib import effective_n_jobs
    from joblib.parallel import get_active_backend

    backend, configured = get_active_backend(prefer="threads")
    if carriers.is_cluster(backend) and n_jobs is None and configured in (None, 1):
        n_jobs = -1  # whoever names a cluster wants all of it
    return int(effective_n_jobs(n_jobs)), backend
