"""A street graph of OSMnx with a table of measured times."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import rhostar as rs
from rhostar.errors import InputError, RhostarWarning


def streets() -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    for node, x in ((530, 11.5), (540, 11.6), (550, 11.7)):
        graph.add_node(node, x=x, y=48.1)
    graph.add_edge(550, 530, length=300.0)
    graph.add_edge(530, 540, length=100.0)
    graph.add_edge(530, 540, length=120.0)
    graph.add_edge(540, 550, length=90.0)
    return graph


def times(**changes: object) -> pd.DataFrame:
    hours = ["2024-03-04 08:00", "2024-03-04 17:00", "2024-03-05 08:00"]
    rows = [
        (hour, u, v, 10.0 * k + u / 100)
        for k, hour in enumerate(hours)
        for u, v in ((530, 540), (540, 550), (550, 530))
    ]
    return pd.DataFrame(rows, columns=["time", "u", "v", "seconds"]).assign(**changes)


def test_each_time_is_a_snapshot_in_the_order_of_the_graph() -> None:
    network = rs.interop.from_osmnx(streets(), "seconds", history=times())
    graph = network.graph
    assert graph.coordinates[:, 0].tolist() == [11.5, 11.6, 11.7]
    assert network.days.tolist() == [0, 0, 1]
    for u, v, length in ((530, 540, 100.0), (540, 550, 90.0), (550, 530, 300.0)):
        (e,) = graph.edge_index([graph.vertex(u)], [graph.vertex(v)])
        assert network.weights[:, e].tolist() == [u / 100, 10 + u / 100, 20 + u / 100]
        assert graph.length[e] == length
    run = rs.astar(graph, network.weights[1], graph.vertex(530), graph.vertex(550), np.zeros(3))
    assert run.cost == pytest.approx(30.7)


def test_streets_without_measurements_are_closed_and_counted() -> None:
    table = times()
    with pytest.warns(RhostarWarning, match="1 of 3 streets have no measurements in the history and are closed"):
        network = rs.interop.from_osmnx(streets(), "seconds", history=table[table.u != 550])
    assert np.isinf(network.weights).sum() == 3


def test_what_is_missing_is_asked_about() -> None:
    table = times().drop(index=4)
    with pytest.raises(InputError, match="missing"):
        rs.interop.from_osmnx(streets(), "seconds", history=table)
    network = rs.interop.from_osmnx(streets(), "seconds", history=table, missing="last")
    (e,) = network.graph.edge_index([1], [2])
    assert network.weights[:, e].tolist() == [5.4, 5.4, 25.4]


def test_tables_of_another_town_are_refused() -> None:
    with pytest.raises(InputError, match=r"history: .*999"):
        rs.interop.from_osmnx(streets(), "seconds", history=times(u=999))
    swapped = times().rename(columns={"u": "v", "v": "u"})
    with pytest.raises(InputError, match="history has the street 530 -> 550, which is not in the graph"):
        rs.interop.from_osmnx(streets(), "seconds", history=swapped)
    with pytest.raises(InputError, match="seconds"):
        rs.interop.from_osmnx(streets(), "seconds", history=times().drop(columns="seconds"))
