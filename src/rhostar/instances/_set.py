"""The classes Instance and InstanceSet: N path-finding problems on one graph.

An instance is (V, E, w, s, t). The graph holds V and all edges that occur in any E. A *snapshot* is one row of weights,
in which ``inf`` marks an absent edge; many instances may share a snapshot. Construction checks the paper's assumptions:
weights are not negative, s differs from t (Assumption 1), and t can be reached from s.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _files as files
from rhostar.errors import ArrayError, InfeasibleError, InputError, InstanceError, StorageError
from rhostar.graph import Graph
from rhostar.instances import _checks as checks
from rhostar.instances import _grid_weights as grid_weights
from rhostar.instances import _pool as pools
from rhostar.instances import _storage as storing
from rhostar.instances._provenance import ContentKeys, Provenance


class Instance(NamedTuple):
    """One path-finding problem: ``rs.astar(*instance, rho)`` solves it."""

    graph: Graph
    """The graph."""
    weights: NDArray[Any]
    """One weight for each edge."""
    source: int
    """Where the path begins."""
    goal: int
    """Where it ends."""


class InstanceSet:
    """N instances on one graph.

    Parameters
    ----------
    graph
        The graph, with all edges that occur in any snapshot.
    weights
        (K, m) snapshots in the edge order of the graph, or a single one; float64, float32 or
        integers (other types are converted once, here). ``inf`` marks an absent edge.
    sources
        N start vertices, or one for all.
    goal
        One goal vertex, or N.
    rows
        The snapshot of each instance; by default 0..K-1, or always 0 if there is only one.
    infeasible
        What to do with instances whose goal cannot be reached: "raise" names the first, "drop"
        leaves them out, "keep" keeps them.
    days
        The day of each snapshot, counted from any day, if snapshots follow each other in time.

    Raises
    ------
    InstanceError
        If there are no instances, or one starts at its goal.
    InfeasibleError
        If an instance has no path and `infeasible` is "raise".
    WeightError
        If a weight is negative, NaN, or an integer of 2**53 or more.
    VertexError, ArrayError
        If a vertex is not in the graph, or an array has the wrong shape or type.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(3, 3)
    >>> weights = np.random.default_rng(0).uniform(1, 2, size=(10, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=8)
    >>> instances
    InstanceSet(10 instances, 10 snapshots of 24 edges, goal 8)
    >>> train, test = instances.split(0.8, seed=0)
    >>> len(train), len(test), train.overlap(test)
    (8, 2, 0)
    """

    __slots__ = (
        "_checkpoints",
        "_drawn",
        "_home",
        "_keys",
        "_own_rows",
        "_own_weights",
        "_stored",
        "_stored_days",
        "_stored_rows",
        "goals",
        "graph",
        "indices",
        "origin",
        "sources",
    )

    graph: Graph
    sources: NDArray[np.int32]
    goals: NDArray[np.int32]
    origin: str
    """The name of the set that this one is a part of: random, or made from what a draw is made from."""
    indices: NDArray[np.int64]
    """The positions of these instances in that set."""
    _checkpoints: Path | None
    _drawn: pools.Drawn
    _keys: ContentKeys | None
    # A part of a set shares the snapshots of the whole, however many it has: a mapped file is never copied. The package
    # reads these; what users read (weights, rows, days) has only the snapshots of the part.
    _stored: NDArray[Any]
    _stored_rows: NDArray[np.int64]
    _stored_days: NDArray[np.int64] | None
    _own_weights: NDArray[Any] | None
    _own_rows: tuple[NDArray[np.int64], NDArray[np.int64]] | None

    def __init__(
        self,
        graph: Graph,
        weights: ArrayLike,
        sources: ArrayLike,
        goal: ArrayLike,
        *,
        rows: ArrayLike | None = None,
        infeasible: Literal["raise", "drop", "keep"] = "raise",
        days: ArrayLike | None = None,
    ) -> None:
        if not isinstance(graph, Graph):
            raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
        if infeasible not in ("raise", "drop", "keep"):
            raise InputError(f"infeasible must be 'raise', 'drop' or 'keep', got {infeasible!r}")
        matrix = checks.matrix(weights, graph.m)
        row, source, target = checks.align(graph, len(matrix), rows, sources, goal)
        if row.size == 0:
            raise InstanceError("a set needs at least one instance")
        same = source == target
        if same.any():
            i = int(np.argmax(same))
            raise InstanceError(
                f"instance {i} starts at its goal (vertex {graph._name_of(int(source[i]))}); s and t must differ"
            )
        has_absent = checks.check_weights(graph, matrix, row)
        when = checks.days(days, len(matrix))
        self._fill(graph, matrix, row, source, target, secrets.token_hex(8), np.arange(row.size), days=when)
        if infeasible == "keep":
            return
        feasible = checks.feasible(graph, matrix, has_absent, row, source, target)
        if feasible.all():
            return
        if infeasible == "raise":
            i = int(np.argmin(feasible))
            ends = f"from {graph._name_of(int(source[i]))} to {graph._name_of(int(target[i]))}"
            raise InfeasibleError(
                f"instance {i} has no path {ends} (snapshot {row[i]}); "
                "pass infeasible='drop' to leave such instances out"
            )
        if not feasible.any():
            raise InfeasibleError(f"no instance (of {row.size}) has a path from its source to its goal")
        kept = np.flatnonzero(feasible)
        drawn = pools.Drawn(feasible=kept.size / row.size)
        self._fill(graph, matrix, row[kept], source[kept], target[kept], self.origin, kept, drawn=drawn, days=when)

    def _fill(
        self,
        graph: Graph,
        weights: NDArray[Any],
        rows: NDArray[np.int64],
        sources: NDArray[np.int32],
        goals: NDArray[np.int32],
        origin: str,
        indices: NDArray[np.int64],
        *,
        home: tuple[str, str] | None = None,
        drawn: pools.Drawn = pools.Drawn(),  # noqa: B008
        keys: ContentKeys | None = None,
        days: NDArray[np.int64] | None = None,
        checkpoints: Path | None = None,
    ) -> InstanceSet:
        self.graph, self._stored, self.origin, self._home = graph, arrays.frozen(weights), origin, home
        self._drawn, self._keys, self._checkpoints = drawn, keys, checkpoints
        self._stored_days = None if days is None else arrays.frozen(days)
        self._stored_rows, self.indices = arrays.frozen(rows), arrays.frozen(indices)
        self._own_weights = self._own_rows = None
        self.sources, self.goals = arrays.frozen(sources), arrays.frozen(goals)
        return self

    @classmethod
    def from_obstacles(
        cls,
        grid: Graph,
        blocked: ArrayLike,
        sources: ArrayLike,
        goal: ArrayLike,
        *,
        corner_cutting: bool,
        rows: ArrayLike | None = None,
        dtype: DTypeLike = np.float64,
        infeasible: Literal["raise", "drop", "keep"] = "raise",
    ) -> InstanceSet:
        """Make instances on a grid with blocked cells: edges at blocked cells are absent.

        Parameters
        ----------
        grid
            Made by :meth:`Graph.grid`; its lengths are the weights.
        blocked
            (K, rows, columns) truth values, or one such map.
        sources, goal, rows, infeasible
            As for :class:`InstanceSet`.
        corner_cutting
            Whether a diagonal may pass beside a blocked cell.
        dtype
            float64, or float32 to save memory.

        Returns
        -------
        InstanceSet

        Raises
        ------
        InputError
            If `grid` was not made by :meth:`Graph.grid`.
        ArrayError
            If `blocked` has the wrong type or shape.
        InfeasibleError
            If an instance has no path and `infeasible` is "raise".

        Examples
        --------
        >>> import numpy as np, rhostar as rs
        >>> blocked = np.array([[0, 1], [0, 0]], dtype=bool)
        >>> cut, around = (
        ...     rs.InstanceSet.from_obstacles(
        ...         rs.Graph.grid(2, 2, neighbors=8), blocked, 0, 3, corner_cutting=cutting)
        ...     for cutting in (True, False))
        >>> [rs.astar(*instances[0], np.zeros(4)).cost for instances in (cut, around)]
        [1.4142, 2.0]
        """
        if not isinstance(grid, Graph) or grid.shape is None or grid.length is None:
            raise InputError("grid must be made by Graph.grid")
        grid_weights.require_float(dtype)
        cells = arrays.as_array(blocked, "blocked")
        if cells.dtype.kind not in "biuf":
            raise ArrayError(f"blocked must contain truth values or numbers, got dtype {cells.dtype}")
        cells = cells[None] if cells.ndim == 2 else cells
        if cells.ndim != 3 or cells.shape[1:] != grid.shape:
            raise ArrayError(f"blocked must have shape (K, {grid.shape[0]}, {grid.shape[1]}), got {cells.shape}")
        weights = files.spacious((len(cells), grid.m), dtype)
        grid_weights.fill_weights(grid, (world == 0 for world in cells), weights, corner_cutting=corner_cutting)
        return cls(grid, weights, sources, goal, rows=rows, infeasible=infeasible)

    # ------------------------------------------------------------ queries and views

    @property
    def weights(self) -> NDArray[Any]:
        """(K, m) snapshots of these instances, and no others, in the order in which they were given; read-only.

        A view, if the snapshots are evenly spaced in the set that this one is a part of, as in a whole set and in a
        slice of one. Otherwise a copy, which is made when it is first asked for, and kept. ``instances[i].weights``
        never copies.
        """
        if self._own_weights is None:
            used = self._own()[0]
            step = int(used[1] - used[0]) if used.size > 1 else 1
            if used.size == 0:
                own = self._stored[:0]
            elif used.size == len(self._stored):
                own = self._stored
            elif (np.diff(used) == step).all():
                own = self._stored[int(used[0]) : int(used[-1]) + 1 : step]
            else:
                own = arrays.frozen(self._stored[used])
            self._own_weights = own
        return self._own_weights

    @property
    def rows(self) -> NDArray[np.int64]:
        """The snapshot of each instance: ``weights[rows[i]]`` are the weights of instance i."""
        return self._own()[1]

    @property
    def snapshot_indices(self) -> NDArray[np.int64]:
        """The positions of `weights` in the matrix that the whole set was made from, or was saved with.

        ``snapshot_indices[rows]`` finds what a user knows about the snapshot of each instance, such as its hour.
        """
        return self._own()[0]

    @property
    def days(self) -> NDArray[np.int64] | None:
        """The day of each snapshot in `weights`, if known.

        ``days[rows]`` is the day of each instance: groups for :meth:`split` and :func:`~rhostar.certify`.
        """
        return None if self._stored_days is None else arrays.frozen(self._stored_days[self._own()[0]])

    def _own(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return which of the stored snapshots these instances have, and the snapshot of each among those."""
        if self._own_rows is None:
            used, row = np.unique(self._stored_rows, return_inverse=True)
            whole = used.size == len(self._stored)
            self._own_rows = arrays.frozen(used), self._stored_rows if whole else arrays.frozen(row.astype(np.int64))
        return self._own_rows

    @property
    def goal(self) -> int | NDArray[np.int32]:
        """The goal, or an array with the goal of each instance if they differ."""
        differ = self.goals.size == 0 or (self.goals != self.goals[0]).any()
        return self.goals if differ else int(self.goals[0])

    @property
    def pool(self) -> pools.Pool | None:
        """What the instances were drawn from, if :meth:`draw` or a sampler drew them; views keep it."""
        return self._drawn.pool

    @property
    def feasible(self) -> float:
        """The share of the given instances that had a path; below 1 if others were dropped, or drawn again."""
        return self._drawn.feasible

    @property
    def shape(self) -> tuple[int]:
        """(N,); scikit-learn looks at it before it indexes a set."""
        return (len(self),)

    def __len__(self) -> int:
        return self._stored_rows.size

    def __repr__(self) -> str:
        goals = np.unique(self.goals)
        goal = f"goal {self.graph._vertex_and_label(goals[0])}" if goals.size == 1 else f"{goals.size} goals"
        used = self._own()[0].size
        many, snapshots = arrays.counted(len(self), "instance"), arrays.counted(used, "snapshot")
        return f"InstanceSet({many}, {snapshots} of {arrays.counted(self.graph.m, 'edge')}, {goal})"

    def __iter__(self) -> Iterator[Instance]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        """Return one :class:`Instance` for an integer, a view for a slice, index array or mask."""
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:  # as scikit-learn indexes
            key = key[0]
        if isinstance(key, SupportsIndex) and not isinstance(key, np.ndarray):
            i = range(len(self))[key]
            return Instance(self.graph, self._stored[self._stored_rows[i]], int(self.sources[i]), int(self.goals[i]))
        if not isinstance(key, slice):
            key = np.asarray(key)
            if key.size == 0:
                key = key.astype(np.int64)
            if key.ndim != 1 or key.dtype.kind not in "biu":
                raise ArrayError(f"an index must be an integer, a slice, integers or a mask, got {key!r}")
        return self._take(key)

    def _take(self, key: Any, drawn: pools.Drawn | None = None, origin: str | None = None) -> InstanceSet:
        """Return a view of some instances; with a new origin they are numbered anew."""
        parts = (self._stored_rows, self.sources, self.goals, self.indices)
        rows, sources, goals, indices = (np.ascontiguousarray(part[key]) for part in parts)
        return object.__new__(InstanceSet)._fill(
            self.graph,
            self._stored,
            rows,
            sources,
            goals,
            self.origin if origin is None else origin,
            indices if origin is None else np.arange(indices.size),
            home=self._home,
            drawn=self._drawn if drawn is None else drawn,
            keys=None if self._keys is None else self._keys[key],
            days=self._stored_days,
            checkpoints=self._checkpoints,
        )

    def _chosen(self, key: Any) -> InstanceSet:
        """Return a view of instances chosen by what they are: no longer independent draws from a pool."""
        return self._take(key, drawn=self._drawn._replace(pool=None))

    def by_goal(self) -> dict[int, InstanceSet]:
        """Return a dictionary from each goal to the view of its instances.

        Returns
        -------
        dict
            In the order of the goals.
        """
        return {int(goal): self._take(np.flatnonzero(self.goals == goal)) for goal in np.unique(self.goals)}

    def overlap(self, other: InstanceSet) -> int:
        """Return how many instances of this set are also in `other`: the same ones, or copies in another set.

        Copies do not count if this set is a draw from a declared pool (:meth:`draw`): draws share instances.

        Parameters
        ----------
        other
            Another set.

        Returns
        -------
        int
            How many instances.
        """
        return Provenance.of(other).overlap(self)

    def draw(self, count: int, seed: int | np.random.Generator | None) -> InstanceSet:
        """Draw instances from this set, independently and uniformly, with replacement.

        The set becomes a declared *pool*: what is certified on draws is a guarantee about draws from this pool. A draw
        may contain an instance several times, and share instances with other draws, as independent draws do.

        Parameters
        ----------
        count
            How many.
        seed
            For numpy's generator. The same pool, count and seed give the same draw; any other gives an independent one.

        Returns
        -------
        InstanceSet
            With :attr:`pool`. It shares its snapshots with this set.

        Raises
        ------
        InputError
            If the set is empty or `count` is not positive.

        Examples
        --------
        >>> import numpy as np, rhostar as rs
        >>> graph = rs.Graph.grid(3, 3)
        >>> weights = np.random.default_rng(0).uniform(1, 2, size=(20, graph.m))
        >>> days = rs.InstanceSet(graph, weights, sources=0, goal=8)
        >>> train, holdout = days.draw(1000, seed=0), days.draw(500, seed=1)
        >>> holdout.pool.words, holdout.overlap(train)
        ('draws from this pool of 20 instances', 0)
        """
        chosen, name, drawn = pools.draw(self, count, seed)
        return self._take(chosen, drawn, name)

    def split(
        self,
        fraction: float,
        seed: int | np.random.Generator | None,
        groups: ArrayLike | Literal[False] | None = None,
    ) -> tuple[InstanceSet, InstanceSet]:
        """Split at random into two views.

        Parameters
        ----------
        fraction
            The share of instances in the first part, between 0 and 1; of days, snapshots or groups if those stay
            together.
        seed
            For numpy's generator.
        groups
            One value per instance; instances with equal values stay together. By default, instances of one day stay
            together if days are known, otherwise those of one snapshot. So the second part has new days or snapshots
            only. Draws from a pool (:meth:`draw`) and the instances of a single snapshot are split one by one. False
            always splits one by one. If a draw from a pool is split by groups, its parts are no longer draws from the
            whole pool, and have no :attr:`pool`.

        Returns
        -------
        tuple of two InstanceSets
            Views, with the instances in their old order.

        Raises
        ------
        InputError
            If a part would be empty.

        Examples
        --------
        >>> import numpy as np, rhostar as rs
        >>> graph = rs.Graph.grid(3, 3)
        >>> weights = np.random.default_rng(0).uniform(1, 2, size=(10, graph.m))
        >>> trips = rs.InstanceSet(graph, weights, np.tile([0, 1], 10), 8, rows=np.repeat(np.arange(10), 2))
        >>> train, test = trips.split(0.7, seed=0)
        >>> len(train), np.intersect1d(train.snapshot_indices, test.snapshot_indices).size
        (14, 0)
        """
        fraction = arrays.number(fraction, "fraction", "between 0 and 1", lambda x: 0 < x < 1)
        labels, what = self._kept_together() if groups is None else (np.asarray(groups), "groups")
        if groups is False:
            labels, what = np.arange(len(self)), "instances"
        if labels.shape != (len(self),):
            raise ArrayError(f"groups must have one value per instance ({len(self)}), got shape {labels.shape}")
        names, member = np.unique(labels, return_inverse=True)
        first = round(fraction * names.size)
        if not 0 < first < names.size:
            hint = "; groups=False splits instances one by one" if groups is None and what != "instances" else ""
            raise InputError(f"cannot split {names.size} {what} at {fraction}: one part would be empty{hint}")
        chosen = np.zeros(names.size, dtype=bool)
        chosen[np.random.default_rng(seed).permutation(names.size)[:first]] = True
        inside = chosen[member]
        take = self._take if names.size == len(self) else self._chosen
        return take(np.flatnonzero(inside)), take(np.flatnonzero(~inside))

    def _kept_together(self) -> tuple[NDArray[np.int64], str]:
        """Return a label for each instance: its day, its snapshot, or its own; and what these are."""
        if self.pool is None:
            if self.days is not None and np.unique(self.days).size > 1:
                return self.days[self.rows], "days"
            if np.unique(self.rows).size > 1:
                return self.rows, "snapshots" if np.unique(self.rows).size < len(self) else "instances"
        return np.arange(len(self)), "instances"

    # ------------------------------------------------------------ disk and other processes

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Save to a folder, with the snapshots these instances use.

        If saving fails or is interrupted, the folder keeps its old content.

        Parameters
        ----------
        folder
            The folder to write or replace.

        Raises
        ------
        StorageError
            If the folder cannot be written, or a label is not a number, a string or a tuple of these.
        """
        storing.save(self, folder)

    @classmethod
    def load(cls, folder: str | os.PathLike[str], *, mmap: bool = True, verify: bool = True) -> InstanceSet:
        """Load a saved set.

        Parameters
        ----------
        folder
            Where it was saved.
        mmap
            Map the snapshots into memory instead of reading them. Such a set pickles as its folder.
        verify
            Read everything once and compare checksums. Without it, sizes, types and the graph are
            still checked, and searches check the weights they read.

        Returns
        -------
        InstanceSet
            Do not change the files of a mapped set: if another program truncates one, the operating system kills every
            process that reads beyond the new end.

        Raises
        ------
        StorageError
            If the folder does not hold a set, or the set is damaged or truncated.

        Examples
        --------
        >>> import numpy as np, rhostar as rs, tempfile
        >>> graph = rs.Graph.grid(2, 2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rs.InstanceSet(graph, graph.length, [0, 1], goal=3).save(folder)
        ...     rs.InstanceSet.load(folder)
        InstanceSet(2 instances, 1 snapshot of 8 edges, goal 3)
        """
        return storing.load(cls, folder, mmap=mmap, verify=verify)

    def resumable(self, folder: str | os.PathLike[str]) -> InstanceSet:
        """Return the same set, whose computations, and those on parts of it, save finished work in a folder.

        Fits, labels, evaluations and certificates are computed in parts, up to 64 for each pass over the instances. If
        the process is killed, run the same program again: it computes only the parts that are missing, and the result
        is bit-identical. Saved parts are identified by content: nothing is reused for other instances or arguments, or
        by another version of rhostar. Delete the folder when the computation is done.

        Parameters
        ----------
        folder
            Where to keep the parts; it is made if missing.

        Returns
        -------
        InstanceSet
            It shares everything with this set. It is not resumable in other processes.

        Raises
        ------
        StorageError
            If the folder cannot be made.

        Examples
        --------
        >>> import numpy as np, pathlib, rhostar as rs, tempfile
        >>> graph = rs.Graph.grid(5, 5)
        >>> weights = np.random.default_rng(0).uniform(1, 2, size=(20, graph.m))
        >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=24)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     first = rs.learners.MeanDistance().fit(instances.resumable(folder)).rho_
        ...     parts = len(list(pathlib.Path(folder).iterdir()))
        ...     again = rs.learners.MeanDistance().fit(instances.resumable(folder)).rho_  # reads the parts
        >>> parts, bool((first == again).all())
        (20, True)
        """
        home = Path(folder)
        try:
            home.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"cannot keep parts in {home}: {error.strerror or error}") from error
        same = self._take(slice(None))
        same._checkpoints = home
        return same

    def __reduce__(self) -> tuple[Any, ...]:
        return storing.reduce(self)
