"""Sends packed tasks to other processes and collects their results: through Dask, Ray, or joblib's own processes.

Users choose by ``joblib.parallel_config(backend=...)``. On Dask and Ray they are ordinary tasks of the cluster rather
than joblib's batches, because such a task can be run again if its worker dies; joblib would lose the whole call. A
task that was run twice still counts once: its result is a value, and one value is kept.
"""

from __future__ import annotations

import contextlib
import secrets
import tempfile
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from rhostar._travel import Parcel, Task, Work, stop_job, work
from rhostar.errors import WorkerError

_TRIES = 5
"""How often a task is sent out if its worker dies every time and no other task gets done meanwhile."""

_DASK_TRIES = 2
"""Dask itself gives a task up only after it has cost four workers."""

_DASK, _RAY = "DaskDistributedBackend", "RayBackend"
"""The names of joblib's backends; their packages are imported only when used."""

_HELD = 4
"""Graphs that stay on a cluster between calls."""


Results = Iterator[tuple[int, bytes]]
"""Numbers of tasks with their packed results, as they come; each number once."""


def carrier(backend: Any) -> Callable[[Any, Work, int], Results]:
    """Return the function that runs work on this backend of joblib.

    If the caller stops taking results, or is interrupted, tasks that still run are ended.
    """
    kind = type(backend).__name__
    if kind == _DASK:
        return run_on_dask
    if kind == _RAY:
        return run_on_ray
    return run_on_processes


def is_cluster(backend: Any) -> bool:
    """Return whether work on this backend belongs on the cluster even if it is a single worker."""
    return type(backend).__name__ in (_DASK, _RAY)


# ---------------------------------------------------------------- Dask


def run_on_dask(backend: Any, work_: Work, jobs: int) -> Results:
    """Run all tasks on the cluster of joblib's Dask backend."""
    from distributed import CancelledError, KilledWorker

    client, job = backend.client, secrets.token_hex(8)
    sources = [_dask_parcel(client, parcel) for parcel in work_.parcels]
    attempts = [0] * len(work_.tasks)
    futures: dict[int, Any] = {}
    arrived: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()

    async def fetch(k: int, future: Any) -> None:
        # All results are fetched at once, and while others are computed: one after the other, each would have to wait
        # for answers of the scheduler and of a worker.
        try:
            (result,) = await client.gather([future], asynchronous=True)
        except BaseException as error:
            arrived.put((k, None, error))
        else:
            arrived.put((k, result, None))

    def send(k: int) -> None:
        attempts[k] += 1
        key = f"rhostar-{job}-{k}-{attempts[k]}"
        with _quiet():
            futures[k] = client.submit(work, job, work_.tasks[k].data, work_.tokens, *sources, key=key, pure=False)
        client.loop.add_callback(fetch, k, futures[k])

    try:
        for k in range(len(work_.tasks)):
            send(k)
        while futures:
            with backend.retrieval_context():  # a task that waits for others gives its thread back
                k, result, error = arrived.get()
            if isinstance(error, KilledWorker | CancelledError):
                # Dask has tried it on several workers already.
                if attempts[k] == _DASK_TRIES:
                    raise _lost(work_.tasks[k], error) from error
                sources[:] = [_dask_parcel(client, parcel) for parcel in work_.parcels]  # they may be gone too
                send(k)
                continue
            if error is not None:
                raise error
            del futures[k]
            yield k, result
    except BaseException:
        with contextlib.suppress(Exception):
            client.cancel(list(futures.values()), force=True)
            client.run(_stop_on_worker, job, wait=False, on_error="ignore")
        raise


async def _stop_on_worker(job: str) -> None:
    """Run :func:`stop_job` beside the chunks of a worker; Dask waits for a function, but not for a coroutine."""
    stop_job(job)


_on_clusters: OrderedDict[tuple[Any, str], Any] = OrderedDict()
"""What stays on a cluster between calls: by client and token the future of Dask, or the reference of Ray."""


def _dask_parcel(client: Any, parcel: Parcel) -> Any:
    """Return a future of the parcel. It is the result of a task, which Dask can run again if all copies are lost."""
    held = _on_clusters.get((client.id, parcel.token))
    if held is not None and held.status in ("pending", "finished"):
        _on_clusters.move_to_end((client.id, parcel.token))
        return held
    with _quiet():
        future = client.submit(_itself, parcel.pack(), key=f"rhostar-{parcel.token}", pure=True)
    if parcel.lasting:
        _hold((client.id, parcel.token), future)
    return future


def _itself(data: Any) -> Any:
    return data


def _hold(key: tuple[Any, str], reference: Any) -> None:
    _on_clusters[key] = reference
    while len(_on_clusters) > _HELD:
        _on_clusters.popitem(last=False)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Hide the advice to scatter large arguments: scattered data is lost with its worker."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        yield


# ---------------------------------------------------------------- Ray


def run_on_ray(backend: Any, work_: Work, jobs: int) -> Results:
    """Run all tasks on Ray, `jobs` at a time."""
    import ray

    if not ray.is_initialized():
        ray.init()
    job = secrets.token_hex(8)
    sources = [_ray_parcel(ray, parcel) for parcel in work_.parcels]
    # Ray would count its own retries; counted here, a task whose worker always dies can be named.
    options = {**(getattr(backend, "ray_remote_args", None) or {}), "max_retries": 0}
    remote = ray.remote(**options)(work)
    attempts = [0] * len(work_.tasks)
    waiting = list(range(len(work_.tasks)))[::-1]
    running: dict[Any, int] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                k = waiting.pop()
                attempts[k] += 1
                running[remote.remote(job, work_.tasks[k].data, work_.tokens, *sources)] = k
            done, _ = ray.wait(list(running), num_returns=1)
            for reference in done:
                k = running.pop(reference)
                try:
                    result = ray.get(reference)
                except (ray.exceptions.RayTaskError, ray.exceptions.TaskCancelledError):
                    raise
                except ray.exceptions.RayError as error:  # the worker, its machine or its result is gone
                    if attempts[k] == _TRIES:
                        raise _lost(work_.tasks[k], error) from error
                    waiting.append(k)
                    continue
                yield k, result
    except BaseException:
        for reference in running:
            with contextlib.suppress(Exception):
                ray.cancel(reference, force=True)
        raise


def _ray_parcel(ray: Any, parcel: Parcel) -> Any:
    """Return a reference to the parcel in Ray's store, from which all workers of a machine read it."""
    context = ray.get_runtime_context()
    key = ((context.get_node_id(), context.get_job_id()), parcel.token)  # jobs of every new cluster begin with 1
    held = _on_clusters.get(key)
    if held is not None:
        _on_clusters.move_to_end(key)
        return held
    reference = ray.put(parcel.pack())
    if parcel.lasting:
        _hold(key, reference)
    return reference


# ---------------------------------------------------------------- joblib's own processes


def run_on_processes(backend: Any, work_: Work, jobs: int) -> Results:
    """Run all tasks through joblib; if a worker dies, the tasks without a result are sent out again."""
    from concurrent.futures import BrokenExecutor

    from joblib import Parallel, delayed

    job = secrets.token_hex(8)
    # joblib's own processes are on this machine, so parcels can be files; other backends get them with each task.
    local = type(backend).__name__ in ("LokyBackend", "MultiprocessingBackend")
    streaming = bool(getattr(backend, "supports_return_generator", False))
    missing = dict(enumerate(work_.tasks))
    with tempfile.TemporaryDirectory(prefix="rhostar-") as folder:
        sources: list[Any] = [_filed(folder, parcel) if local else parcel.pack() for parcel in work_.parcels]
        failures = 0
        while missing:
            before = len(missing)
            tasks = [delayed(_numbered)(k, job, task.data, work_.tokens, *sources) for k, task in missing.items()]
            parallel = Parallel(n_jobs=jobs, batch_size=1, return_as="generator_unordered" if streaming else "list")
            try:
                for k, result in parallel(tasks):
                    del missing[k]
                    yield k, result
            except BrokenExecutor as error:
                failures = failures + 1 if len(missing) == before else 0
                if failures == _TRIES:
                    raise _lost(next(iter(missing.values())), error) from error


def _numbered(k: int, *arguments: Any) -> tuple[int, bytes]:
    return k, work(*arguments)


def _filed(folder: str, parcel: Parcel) -> str:
    path = Path(folder, parcel.token)
    path.write_bytes(parcel.pack())
    return str(path)


def _lost(task: Task, error: BaseException) -> WorkerError:
    return WorkerError(
        f"the workers that ran {task.name} died again and again ({type(error).__name__}); "
        "they may need more memory, or smaller chunks (a larger n_jobs)"
    )
