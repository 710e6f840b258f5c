"""Runs a function on a set of instances in chunks, with joblib: in threads, or with the backend that joblib is set to.

The kernels run without the interpreter lock, so threads are enough on one machine. Under
``joblib.parallel_config(backend="dask")`` or ``"ray"`` the same chunks go to a cluster, with bit-identical results in
the same order (:mod:`rhostar._workers`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rhostar import _checkpoints as checkpointing
from rhostar import _core
from rhostar import _workers as workers
from rhostar._workers import Own
from rhostar.instances import InstanceSet

T = TypeVar("T")

_CHUNKS_PER_JOB = 4
"""More than one, because instances differ in cost."""

_CHUNKS_KEPT = 64
"""How many chunks there are while results are kept: a computation may be resumed with another number of jobs."""


def map_chunks(
    function: Callable[..., T],
    instances: InstanceSet,
    /,
    *,
    n_jobs: int | None = None,
    **arguments: Any,
) -> list[T]:
    """Call ``function(chunk, first, stop, **arguments)`` on parts of a set and return the results in order.

    If chunks raise errors, the error of the first chunk is raised, for any number of jobs; an error that is not one of
    rhostar gets a note that names the instances of its chunk. A worker process that dies loses nothing: its chunks are
    run again. Finished chunks of a set that is :meth:`~rhostar.InstanceSet.resumable` are kept in its folder.

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
    folder = instances._checkpoints
    if folder is None and (backend is None or len(instances) <= 1):
        return [function(instances, 0, _core.Stop(), **arguments)]
    count = min(len(instances), jobs * _CHUNKS_PER_JOB if folder is None else _CHUNKS_KEPT)
    cuts = np.linspace(0, len(instances), max(count, 1) + 1).astype(int).tolist()
    calls = [
        (f"instances {begin} to {end - 1} of the set", (instances[begin:end], begin)) for begin, end in pairwise(cuts)
    ]
    return list(_in_turn(_outcomes(function, arguments, calls, jobs, backend, folder)))


def map_calls(
    function: Callable[..., T],
    calls: Mapping[str, Own],
    /,
    *,
    n_jobs: int | None = None,
    checkpoints: Path | None = None,
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
    checkpoints
        The folder for results, if they are kept.

    Raises
    ------
    Exception
        What a call raised, when its turn comes, with a note that names the call.
    """
    jobs, backend = _jobs(n_jobs)
    return _in_turn(_outcomes(function, arguments, list(calls.items()), jobs, backend, checkpoints))


_Outcomes = Generator[tuple[int, workers.Outcome], None, None]
"""Numbers of calls with their outcomes, as they come. Whoever takes them closes it: an error keeps the frames that it
passed, and what they hold would end at any later time, in the midst of the next computation."""


def _in_turn(outcomes: _Outcomes) -> Iterator[Any]:
    """Return results in order. Which of several calls fails first is a matter of timing, which is raised is not."""
    early: dict[int, workers.Outcome] = {}
    turn = 0
    with closing(outcomes):
        for k, outcome in outcomes:
            early[k] = outcome
            while turn in early:
                result, error = early.pop(turn)
                if error is not None:
                    raise error
                turn += 1
                yield result


def _outcomes(
    function: Callable[..., Any],
    arguments: dict[str, Any],
    calls: list[tuple[str, Own]],
    jobs: int,
    backend: Any,
    folder: Path | None,
) -> _Outcomes:
    """Return numbers of calls with their outcomes, as they come; results that are kept come first."""
    missing, keys = list(range(len(calls))), [""] * len(calls)
    if folder is not None:
        missing = []
        for k, (_, own) in enumerate(calls):
            keys[k] = checkpointing.key_of(function, arguments, own)
            found = checkpointing.load(folder, keys[k], function)
            if found is None:
                missing.append(k)
            else:
                yield k, workers.Outcome(found[0], None)
        calls = [calls[k] for k in missing]
    if backend is None or not calls:
        computed = _one_by_one(function, arguments, calls)
    elif getattr(backend, "supports_sharedmem", False):
        computed = _in_threads(function, arguments, calls, jobs)
    else:
        computed = workers.run(backend, jobs, function, arguments, calls)
    with closing(computed):
        for j, outcome in computed:
            if folder is not None and outcome.error is None:
                checkpointing.save(folder, keys[missing[j]], function, outcome.result)
            yield missing[j], outcome


def _one_by_one(function: Callable[..., Any], arguments: dict[str, Any], calls: list[tuple[str, Own]]) -> _Outcomes:
    for k, (name, own) in enumerate(calls):
        yield k, workers.attempt(function, name, own, _core.Stop(), arguments)


def _in_threads(
    function: Callable[..., Any], arguments: dict[str, Any], calls: list[tuple[str, Own]], jobs: int
) -> _Outcomes:
    from concurrent.futures import ThreadPoolExecutor, as_completed, wait

    pool = ThreadPoolExecutor(jobs)
    stop = _core.Stop()
    futures: dict[Any, int] = {}
    try:
        for k, (name, own) in enumerate(calls):  # Ctrl-C may come here, while the first calls run
            futures[pool.submit(workers.attempt, function, name, own, stop, arguments)] = k
        for future in as_completed(list(futures)):
            yield futures.pop(future), future.result()
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
        # A thread inside a kernel when Python ends would bring the process down. Calls that never began are not done.
        wait([future for future in futures if not future.cancelled()], timeout=2.0)


def _jobs(n_jobs: int | None) -> tuple[int, Any]:
    """Return how many calls run at once, and the backend of joblib; None if they run on the calling thread."""
    # If joblib was never imported, it was never configured: skip the import.
    if n_jobs == 1 or (n_jobs is None and "joblib" not in sys.modules):
        return 1, None
    from joblib import effective_n_jobs
    from joblib.parallel import get_active_backend

    backend, configured = get_active_backend(prefer="threads")
    cluster = type(backend).__name__ in workers.CLUSTERS
    if cluster and n_jobs is None and configured in (None, 1):
        n_jobs = -1  # whoever names a cluster wants all of it
    jobs = int(effective_n_jobs(n_jobs))
    return jobs, backend if jobs > 1 or cluster else None  # a cluster of one worker is still a cluster
