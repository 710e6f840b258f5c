"""Packs chunks of work for other processes, so that each process gets a graph once and a chunk carries only its rows.

What several chunks need is a *parcel*, known by a hash of its content: every graph is one, and the function with its
arguments (ρ among them) is another. A process opens a parcel once and keeps it. The chunk itself is a view of a set of
instances: the rows of its snapshots, or the name of the file they are in.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from rhostar import _core
from rhostar.errors import RhostarError
from rhostar.graph import Graph
from rhostar.instances import InstanceSet

_PROTOCOL = 5
_KEPT = {"graph": 4, "call": 2}
"""How many parcels of each kind a process keeps open."""


class Parcel(NamedTuple):
    """Something that several chunks need."""

    token: str
    """What kind of parcel it is, and a hash of the content."""
    pack: Callable[[], bytes]
    """Returns the content; called only where it is not there yet."""
    lasting: bool
    """Whether later calls will probably need it too."""


class Task(NamedTuple):
    """One call of the function, ready to be sent."""

    name: str
    """What it is called in errors, such as the numbers of its instances."""
    data: bytes


class Work(NamedTuple):
    """Calls of a function, ready to be sent; parcels that need others come after them."""

    parcels: list[Parcel]
    tasks: list[Task]

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens of the parcels, in order."""
        return tuple(parcel.token for parcel in self.parcels)


def pack(function: Callable[..., Any], arguments: Mapping[str, Any], calls: Mapping[str, tuple[Any, ...]]) -> Work:
    """Pack a function, the keyword arguments of all calls, and by name the own arguments of each."""
    graphs: dict[str, Parcel] = {}
    common = _dumps((function, dict(arguments)), graphs)
    tasks = [Task(name, _dumps((name, own), graphs)) for name, own in calls.items()]
    token = f"call-{hashlib.blake2b(common, digest_size=16).hexdigest()}"
    return Work([*graphs.values(), Parcel(token, lambda: common, False)], tasks)


# ---------------------------------------------------------------- packing


def _dumps(value: Any, graphs: dict[str, Parcel]) -> bytes:
    """Pickle a value; every graph in it becomes a token, and a parcel in `graphs`."""
    try:
        import cloudpickle  # functions that users wrote in a notebook
    except ImportError:  # older versions of joblib bring their own
        from joblib.externals import cloudpickle

    class Packer(cloudpickle.Pickler):  # type: ignore[misc]
        def persistent_id(self, thing: Any) -> str | None:
            if not isinstance(thing, Graph):
                return None
            token = graph_token(thing)
            graphs.setdefault(token, Parcel(token, lambda: _pack_graph(thing), True))
            return token

    out = io.BytesIO()
    Packer(out, protocol=_PROTOCOL).dump(value)
    return out.getvalue()


def content_hash(function: Callable[..., Any], arguments: Mapping[str, Any], own: tuple[Any, ...]) -> str:
    """Return a hash of a call by content: equal graphs and instances count as equal, whatever set they come from."""
    import cloudpickle

    class Hasher(cloudpickle.Pickler):  # type: ignore[misc]
        def persistent_id(self, thing: Any) -> Any:
            if isinstance(thing, Graph):
                return graph_token(thing)
            return _instances_token(thing) if isinstance(thing, InstanceSet) else None

    out = io.BytesIO()
    name = (function.__module__, function.__qualname__, version("rhostar"))
    Hasher(out, protocol=_PROTOCOL).dump((name, dict(arguments), own))
    return hashlib.blake2b(out.getvalue(), digest_size=20).hexdigest()


def _instances_token(instances: InstanceSet) -> str:
    used, row = np.unique(instances.rows, return_inverse=True)
    digest = hashlib.blake2b(graph_token(instances.graph).encode(), digest_size=20)
    if instances._home is not None:  # a saved set is known by its token: its snapshots need not be read
        digest.update(f"{instances._home[1]} {used.tolist()}".encode())
    else:
        digest.update(str((instances.weights.dtype, used.size)).encode())
        for k in used.tolist():
            digest.update(np.ascontiguousarray(instances.weights[k]).data)
    for part in (row.astype(np.int64), instances.sources, instances.goals):
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()


def _pack_graph(graph: Graph) -> bytes:
    return pickle.dumps(graph, protocol=_PROTOCOL)


_tokens: dict[int, tuple[weakref.ref[Graph], str]] = {}


def graph_token(graph: Graph) -> str:
    """Return a hash of everything in a graph, labels and coordinates included; it is computed once."""
    known = _tokens.get(id(graph))
    if known is not None and known[0]() is graph:
        return known[1]
    _, parts = graph.__reduce__()
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(pickle.dumps(part, protocol=_PROTOCOL))
    key, token = id(graph), f"graph-{digest.hexdigest()}"
    _tokens[key] = weakref.ref(graph, lambda _: _tokens.pop(key, None)), token
    return token


# ---------------------------------------------------------------- in the other process

_open: OrderedDict[str, Any] = OrderedDict()
_lock = threading.RLock()


class _Unpacker(pickle.Unpickler):
    def __init__(self, data: Any, opened: Mapping[str, Any]) -> None:
        super().__init__(io.BytesIO(data))
        self.opened = opened

    def persistent_load(self, token: str) -> Any:
        return self.opened[token]


def _opened(token: str, source: Any, others: Mapping[str, Any]) -> Any:
    """Return the content of a parcel, which is opened if it is not open yet; `others` are parcels it may need."""
    found = _open.get(token)
    if found is None:
        if isinstance(source, str):
            with open(source, "rb") as stream:
                source = stream.read()
        found = _open[token] = _Unpacker(source, others).load()
    _open.move_to_end(token)
    kind = token.split("-", maxsplit=1)[0]
    alike = [other for other in _open if other.startswith(kind)]
    for other in alike[: -_KEPT[kind]]:
        del _open[other]
    return found


_running: dict[str, list[_core.Stop]] = {}
_ended: OrderedDict[str, None] = OrderedDict()


def work(job: str, data: bytes, tokens: tuple[str, ...], *sources: Any) -> bytes:
    """Run a task in this process and return its packed result, for :func:`unpack_result`.

    Parameters
    ----------
    job
        What it belongs to, for :func:`stop_job`.
    data
        The packed task.
    tokens, sources
        The tokens of the parcels, and the bytes of each or the name of a file with them.
    """
    stop = _core.Stop()
    with _lock:
        _running.setdefault(job, []).append(stop)
        if job in _ended:
            stop.set()
    try:
        opened: dict[str, Any] = {}
        with _lock:  # one thread opens a parcel, the others wait for it
            for token, source in zip(tokens, sources, strict=True):
                opened[token] = _opened(token, source, opened)
        name, own = _Unpacker(data, opened).load()
        function, arguments = opened[tokens[-1]]
        return pickle.dumps(call(function, name, own, stop, arguments), protocol=_PROTOCOL)
    finally:
        with _lock:
            _running[job].remove(stop)
            if not _running[job]:
                del _running[job]


def stop_job(job: str) -> None:
    """End all tasks of a job in this process, running or to come."""
    with _lock:
        _ended[job] = None
        while len(_ended) > 1000:
            _ended.popitem(last=False)
        for stop in _running.get(job, ()):
            stop.set()


class Failure(NamedTuple):
    """What a call raised."""

    error: Exception


def call(
    function: Callable[..., Any], name: str, own: tuple[Any, ...], stop: _core.Stop, arguments: Mapping[str, Any]
) -> Any:
    """Return the result of ``function(*own, stop, **arguments)``, or its :class:`Failure`.

    Errors of rhostar name the instance themselves; others get a note that names the instances of the chunk.
    """
    try:
        return function(*own, stop, **arguments)
    except Exception as error:
        if not isinstance(error, RhostarError):
            error.add_note(f"This happened in {name}.")
        return Failure(error)


def unpack_result(data: bytes) -> Any:
    """Return what :func:`work` packed: a result, or a :class:`Failure`."""
    return pickle.loads(data)
