"""Runs a function on a set of instances in chunks, by joblib: in threads, or with the backend that joblib is set to.

The kernels run without the interpreter lock, so threads are enough on one machine; under
``joblib.parallel_config(backend="dask")``, for example, the same chunks go to a cluster.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from rhostar import _core
from rhostar.errors import RhostarError
from rhostar.instances import InstanceSet

T = TypeVar("T")

_CHUNKS_PER_JOB = 4
"""More than one, because instances differ in cost."""


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

    If chunks raise errors of rhostar, the error of the first chunk is raised, for any number of jobs.

    Parameters
    ----------
    function
        A function defined in a module, so that it can be sent to another process. `first` is the number of
        the chunk's first instance; `stop` is a flag that ends all kernels that share it.
    instances
        The set.
    n_jobs
        As in joblib: None means 1 unless ``joblib.parallel_config`` says otherwise, -1 means
        all cores.
    multiple_of
        Every chunk but the last begins and ends at a multiple of this: sums taken in blocks of that
        size are then the same for any number of jobs.

    Raises
    ------
    RhostarError
        The error of the first chunk that failed, in the order of the set.
    KeyboardInterrupt
        At once, with all chunks stopped.
    """
    stop = _core.Stop()
    jobs = _jobs(n_jobs)
    if jobs == 1 or len(instances) <= 1:
        return [function(instances, 0, stop, **arguments)]
    from joblib import Parallel, delayed

    blocks = -(-len(instances) // multiple_of)
    cuts = np.linspace(0, blocks, min(blocks, jobs * _CHUNKS_PER_JOB) + 1).astype(int) * multiple_of
    cuts[-1] = len(instances)
    counted = _Counted(_Caught(function))
    tasks = (delayed(counted)(instances[begin:end], begin, stop, **arguments) for begin, end in pairwise(cuts.tolist()))
    try:
        # The number is passed explicitly: given a preference but no backend, joblib forgets what parallel_config said.
        results = Parallel(n_jobs=jobs, prefer="threads", return_as="generator", pre_dispatch="all")(tasks)
        if _shares_memory():
            # joblib checks for results every 10 ms, but many batches take less: ask it once they are there.
            counted.wait_for(finished=cuts.size - 1)
            time.sleep(0.0005)  # the last of them is still being handed over
        parts = list(results)
    except BaseException:
        stop.set()
        counted.wait_until_empty(seconds=2.0)
        raise
    for part in parts:
        if isinstance(part, RhostarError):
            raise part
    return parts


def _shares_memory() -> bool:
    """Whether joblib is set up to run tasks as threads of this process."""
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend(prefer="threads")
    return bool(getattr(backend, "supports_sharedmem", False))


class _Caught:
    """A function that returns errors of rhostar instead of raising them.

    Which of several chunks fails first is a matter of timing; which of them is first in the set is not.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        try:
            return self.function(*arguments, **options)
        except RhostarError as error:
            return error


class _Counted:
    """A function that counts the threads inside it; other processes get the plain function.

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
        """Wait until `finished` calls have ended or one has failed; give up if none has started within a second."""
        with self.changed:
            if self.changed.wait_for(lambda: self.inside or self.finished, 1.0):
                self.changed.wait_for(lambda: self.finished == finished or self.failed)

    def wait_until_empty(self, seconds: float) -> None:
        """Wait until no thread is inside, for at most `seconds`."""
        with self.changed:
            self.changed.wait_for(lambda: self.inside == 0, seconds)

    def __reduce__(self) -> tuple[Any, ...]:
        return _itself, (self.function,)


def _itself(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _jobs(n_jobs: int | None) -> int:
    # If joblib was never imported, it was never configured: skip the import.
    if n_jobs == 1 or (n_jobs is None and "joblib" not in sys.modules):
        return 1
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))
