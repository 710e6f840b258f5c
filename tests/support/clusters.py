"""Real clusters on this machine: Dask and Ray with two worker processes each, and joblib's own processes."""

import contextlib
import logging
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import joblib
import pytest


@dataclass
class Cluster:
    name: str
    workers: Callable[[], list[int]]
    """The process ids of the workers."""

    @contextlib.contextmanager
    def configured(self, **options: Any) -> Iterator[None]:
        own = {"loky": {"n_jobs": 2}, "dask": {"wait_for_workers_timeout": 200}}.get(self.name, {})
        with joblib.parallel_config(backend=self.name, **own, **options):
            yield

    def kill_one(self, which: int, killed: list[int]) -> None:
        """Kill a worker with no chance to say goodbye, and note its process id."""
        pids = self.workers()
        if pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pids[which % len(pids)], signal.SIGKILL)
                killed.append(pids[which % len(pids)])


def children(word: str) -> list[int]:
    """Return the processes below this one whose command has a word in it."""
    import psutil

    found = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if word in " ".join(child.cmdline()):
                found.append(child.pid)
    return found


@contextlib.contextmanager
def dask_cluster() -> Iterator[Cluster]:
    distributed = pytest.importorskip("distributed")
    import dask

    with (
        # On a busy machine a worker takes longer than 15 s to come back, and its nanny would be dismissed.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True) as cluster,
        distributed.Client(cluster),
    ):
        yield Cluster("dask", lambda: [worker.pid for worker in cluster.workers.values() if worker.pid])


@contextlib.contextmanager
def ray_cluster() -> Iterator[Cluster]:
    ray = pytest.importorskip("ray")
    from ray.util.joblib import register_ray

    quiet: dict[str, Any] = {"include_dashboard": False, "log_to_driver": False, "logging_level": logging.ERROR}
    for attempt in range(4):
        try:
            ray.init("local", num_cpus=2, object_store_memory=200 << 20, **quiet)  # never one that others started
            break
        except Exception as error:  # Ray gives itself 30 s to start, which a busy machine may exceed
            if attempt == 3 or "timed out during startup" not in str(error):
                raise
            ray.shutdown()
    register_ray()

    try:
        yield Cluster("ray", lambda: children("ray::work"))
    finally:
        ray.shutdown()


@contextlib.contextmanager
def loky_cluster() -> Iterator[Cluster]:
    yield Cluster("loky", lambda: children("LokyProcess"))


CLUSTERS = {"dask": dask_cluster, "ray": ray_cluster, "loky": loky_cluster}
