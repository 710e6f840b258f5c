"""Runs calls in other processes: those of joblib, of a Dask cluster or of a Ray cluster.

What several calls need is sent once: every graph, and the function with its arguments (including ρ). Each is identified
by a hash of its content, and a process keeps the latest ones. A call itself contains only its chunk of a set: the
weights of its snapshots, or the name of the file that has them.

On Dask and Ray the calls are ordinary tasks of the cluster rather than joblib's batches, because such a task can be run
again if its worker dies; joblib would lose the whole computation. A task that was run twice still counts once, because
only one of its results is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import pickle
import secrets
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from rhostar import _core
from rhostar.errors import RhostarError, WorkerError
from rhostar.graph import Graph

T = TypeVar("T")

CLUSTERS = _DASK, _RAY = "DaskDistributedBackend", "RayBackend"
"""The names of joblib's backends whose work belongs on the cluster even if it is a single worker; their packages are
imported only when used."""

_TRIES = 5
"""How often a task is sent out elsewhere, if its worker dies every time and no other task gets done meanwhile."""

_PROTOCOL = 5
_KEPT = 4
"""How many graphs and functions a process keeps."""

Own = tuple[Any, ...]
"""The arguments that one call has for itself."""


_Numbered = Generator[tuple[int, bytes], None, None]
"""Numbers of calls with their pickled outcomes, as they come."""


class Outcome(NamedTuple):
    """What a call returned, or the error that it raised."""

    result: Any
    error: Exception | None


def attempt(
    function: Callable[..., Any], name: str, own: Own, stop: _core.Stop, arguments: Mapping[str, Any]
) -> Outcome:
    """Call ``function(*own, stop, **arguments)``; a foreign error gets a note with the name of the call."""
    try:
        return Outcome(function(*own, stop, **arguments), None)
    except Exception as error:
        if not isinstance(error, RhostarError):  # those of rhostar name the instance themselves
            error.add_note(f"This happened in {name}.")
        return Outcome(None, error)


def run(
    backend: Any,
    jobs: int,
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    calls: Sequence[tuple[str, Own]],
) -> Generator[tuple[int, Outcome], None, None]:
    """Run calls on a backend of joblib and return their numbers and outcomes as they come.

    If the caller stops taking them, or is interrupted, tasks that still run are ended.

    Raises
    ------
    WorkerError
        If the worker of a call dies again and again.
    """
    on = {_DASK: _on_dask, _RAY: _on_ray}.get(type(backend).__name__, _on_processes)
    with contextlib.closing(on(backend, Packed(function, arguments, calls), jobs)) as numbered:
        for k, data in numbered:
            yield k, pickle.loads(data)


# ---------------------------------------------------------------- packing


class Packed:
    """Calls of a function, ready to be sent."""

    def __init__(
        self, function: Callable[..., Any], arguments: Mapping[str, Any], calls: Sequence[tuple[str, Own]]
    ) -> None:
        graphs: dict[str, Graph | bytes] = {}

        def token_of(thing: Any) -> str | None:
            if not isinstance(thing, Graph):
                return None
            graphs[thing._token] = thing
            return thing._token

        common = dumps((function, dict(arguments)), token_of)
        self.tasks = [dumps(call, token_of) for call in calls]
        self.names = [name for name, _ in calls]
        self.shared = graphs | {hashlib.blake2b(common, digest_size=16).hexdigest(): common}
        """By token what all calls need: the graphs, then the function with its arguments, which refer to them."""
        self.tokens = tuple(self.shared)

    def lost(self, k: int, error: object) -> WorkerError:
        """Return the error for a call that no worker survived."""
        return WorkerError(
            f"the workers that ran {self.names[k]} died repeatedly ({type(error).__name__}); "
            "they may need more memory, or smaller chunks (a larger n_jobs)"
        )


def dumps(value: Any, token_of: Callable[[Any], str | None]) -> bytes:
    """Pickle a value; what has a token is replaced by it."""
    try:
        import cloudpickle  # functions that users wrote in a notebook
    except ImportError:  # older versions of joblib bring their own
        from joblib.externals import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def persistent_id(self, thing: Any) -> str | None:
            return token_of(thing)

    out = io.BytesIO()
    Pickler(out, protocol=_PROTOCOL).dump(value)
    return out.getvalue()


def _content(thing: Graph | bytes) -> bytes:
    return thing if isinstance(thing, bytes) else pickle.dumps(thing, protocol=_PROTOCOL)


# ---------------------------------------------------------------- in the other process

_lock = threading.RLock()
_loaded: OrderedDict[str, Any] = OrderedDict()
_stops: OrderedDict[str, _core.Stop] = OrderedDict()


def _latest(kept: OrderedDict[str, T], key: str, make: Callable[[], T], most: int) -> T:
    """Return what is kept under a key, which is made if it is not there; the latest ones are kept."""
    found = kept[key] if key in kept else make()
    kept[key] = found
    kept.move_to_end(key)
    while len(kept) > most:
        kept.popitem(last=False)
    return found


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: Any, shared: Mapping[str, Any]) -> None:
        super().__init__(io.BytesIO(data))
        self.shared = shared

    def persistent_load(self, token: str) -> Any:
        return self.shared[token]


def work(job: str, data: bytes, tokens: tuple[str, ...], *sources: Any) -> bytes:
    """Run one call in this process and return its pickled :class:`Outcome`.

    Parameters
    ----------
    job
        What it belongs to, for :func:`stop_job`.
    data
        The pickled name and own arguments of the call.
    tokens, sources
        What all calls share: tokens and pickled contents.
    """
    with _lock:  # one thread unpickles what is shared, the others wait for it
        stop = _latest(_stops, job, _core.Stop, 1000)
        shared: dict[str, Any] = {}
        for token, source in zip(tokens, sources, strict=True):
            shared[token] = _latest(_loaded, token, _Unpickler(source, shared).load, _KEPT)
    function, arguments = shared[tokens[-1]]
    name, own = _Unpickler(data, shared).load()
    return pickle.dumps(attempt(function, name, own, stop, arguments), protocol=_PROTOCOL)


async def stop_job(job: str) -> None:
    """End all calls of a job in this process, running or to come. Dask runs a coroutine at once, beside them."""
    with _lock:
        _latest(_stops, job, _core.Stop, 1000).set()


# ---------------------------------------------------------------- Dask


def _on_dask(backend: Any, packed: Packed, jobs: int) -> _Numbered:
    from distributed import as_completed

    client, job = backend.client, secrets.token_hex(8)
    futures: dict[str, Any] = {}
    number: dict[str, int] = {}
    own: dict[Any, Any] = {}

    def submit(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        with warnings.catch_warnings():  # advice to scatter large arguments: scattered data is lost with its worker
            warnings.filterwarnings("ignore", message="Sending large graph")
            return client.submit(function, *arguments, **options)

    def source(token: str, thing: Graph | bytes) -> Any:
        # It is the result of a task, which Dask can run again if all copies are lost.
        held = thing._copies if isinstance(thing, Graph) else own
        if client.id not in held or held[client.id].status not in ("pending", "finished"):
            held.clear()
            held[client.id] = submit(_same, _content(thing), key=f"rhostar-{token}", pure=True)
        return held[client.id]

    try:
        sources = [source(*item) for item in packed.shared.items()]
        for k, task in enumerate(packed.tasks):
            key = f"rhostar-{job}-{k}"
            futures[key] = submit(work, job, task, packed.tokens, *sources, key=key, pure=False)
            number[key] = k
        # Results are fetched while others are computed, and all at once.
        done = as_completed(list(futures.values()), with_results=True, raise_errors=False)
        while futures:
            with backend.retrieval_context():  # a task that waits for others gives its thread back
                future, result = next(done)
            del futures[future.key]
            if future.status != "finished":  # Dask gives a task up only after it has cost four workers
                raise packed.lost(number[future.key], result[1] if isinstance(result, tuple) else result)
            yield number[future.key], result
    except BaseException:
        with contextlib.suppress(Exception):
            client.cancel(list(futures.values()), force=True)
            client.run(stop_job, job, wait=False, on_error="ignore")
        raise


def _same(data: Any) -> Any:
    return data


# ---------------------------------------------------------------- Ray


def _on_ray(backend: Any, packed: Packed, jobs: int) -> _Numbered:
    import ray

    if not ray.is_initialized():
        ray.init()
    context = ray.get_runtime_context()
    cluster = context.get_node_id(), context.get_job_id()  # jobs of every new cluster begin with 1

    def source(thing: Graph | bytes) -> Any:
        held = thing._copies if isinstance(thing, Graph) else {}
        if cluster not in held:
            held.clear()
            held[cluster] = ray.put(_content(thing))  # all workers of a machine read it from there
        return held[cluster]

    sources = [source(thing) for thing in packed.shared.values()]
    options = {**(getattr(backend, "ray_remote_args", None) or {}), "max_retries": _TRIES - 1}
    remote = ray.remote(**options)(work)
    waiting = list(range(len(packed.tasks)))[::-1]
    running: dict[Any, int] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                k = waiting.pop()
                running[remote.remote("", packed.tasks[k], packed.tokens, *sources)] = k
            (done, *_), _ = ray.wait(list(running), num_returns=1)
            k = running.pop(done)
            try:
                result = ray.get(done)
            except (ray.exceptions.RayTaskError, ray.exceptions.TaskCancelledError):
                raise
            except ray.exceptions.RayError as error:  # the worker, its machine or its result is gone
                raise packed.lost(k, error) from error
            yield k, result
    except BaseException:
        # What an error left over may be closed by the garbage collector, after the user's own shutdown. Ray would then
        # be started again just to cancel.
        for reference in running if ray.is_initialized() else ():
            with contextlib.suppress(Exception):
                ray.cancel(reference, force=True)
        raise


# ---------------------------------------------------------------- joblib's own processes


def _on_processes(backend: Any, packed: Packed, jobs: int) -> _Numbered:
    """Run all calls through joblib; if a worker dies, those without a result are sent out again."""
    from joblib import Parallel, delayed

    # joblib writes large arrays to a file once, and its processes map it.
    sources = [np.frombuffer(_content(thing), dtype=np.uint8) for thing in packed.shared.values()]
    streaming = bool(getattr(backend, "supports_return_generator", False))
    missing = list(range(len(packed.tasks)))
    failures = 0
    while missing:
        tasks = [delayed(_numbered)(k, "", packed.tasks[k], packed.tokens, *sources) for k in missing]
        before = len(missing)
        parallel = Parallel(n_jobs=jobs, batch_size=1, return_as="generator_unordered" if streaming else "list")
        results: Any = None
        try:
            results = parallel(tasks)
            for k, result in results:
                missing.remove(k)
                yield k, result
        except GeneratorExit:
            if streaming:  # its tasks are ended now, not when the next computation uses the same processes
                with warnings.catch_warnings():  # that results are not used, which is what an error before them means
                    warnings.filterwarnings("ignore", message=".*tasks have been successfully executed")
                    results.close()
            raise
        except RuntimeError as error:
            # A call's own error is a result. This one is joblib's: a worker has died, or another thread, which shares
            # the processes, has ended them.
            failures = failures + 1 if len(missing) == before else 0
            if failures == _TRIES:
                raise packed.lost(missing[0], error) from error


def _numbered(k: int, *arguments: Any) -> tuple[int, bytes]:
    return k, work(*arguments)
