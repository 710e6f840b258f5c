"""Data in: readers and converters for networks of one's own, how to sample them, and distributions to draw from.

From a file to a set of instances in three lines, whatever the format::

    network = rs.datasets.read_dimacs("rome99.gr")                  # also .gr.gz, with a .co file
    goal = rs.datasets.choose_goal(network.graph)
    instances = network.sample(500, goal=goal, seed=0)

    town = rs.datasets.read_map("den520d.map")                      # MovingAI, 8 or 4 neighbours
    queries = rs.datasets.read_scenario("den520d.map.scen")
    instances = town.queries(queries)                               # or town.sample(500)

    worlds = rs.datasets.read_worlds("forest/train")                # a folder of PNG files, 201 x 201 cells
    instances = worlds[:100].instances(dtype="float32")             # lower left to upper right
    train, test = instances.split(0.8, seed=0)

    roads = rs.datasets.read_node_edge("TG.cnode.txt", "TG.cedge.txt")
    goal = rs.datasets.choose_goal(roads.graph, roads.weights[0])
    instances = roads.sample(500, goal=goal, seed=0)

    traffic = rs.datasets.read_metr_la("metr_la_week.npz")          # 2,016 snapshots of travel times
    instances = traffic.sample(1000, goal=0, seed=0)                # i.i.d. from the week
    earlier, later = rs.datasets.split_by_day(instances, traffic.days)

    network = rs.datasets.read_edge_table("times.csv")              # or .parquet: tail, head, weight, snapshot
    goal = network.graph.vertex("work")
    instances = network.sample(500, goal=goal, seed=0)

    network = rs.datasets.from_networkx(streets, "travel_time")     # an OSMnx graph; also from_igraph, from_pandas
    goal = network.graph.vertex(53138)                              # the label is the OSM id
    instances = network.sample(500, goal=goal, seed=0)

And without any file, where the law of the instances is to be known::

    town = rs.datasets.city(1000, seed=0)                           # also terrain, obstacle_worlds, overlay, ...
    train, test = town.draw(200, seed=1), town.draw(200, seed=2)    # independent instances, as many as you want
    low, high = town.weight_bounds                                  # town.law says how they are distributed
"""

from typing import TYPE_CHECKING

from rhostar.lazy import attach

if TYPE_CHECKING:
    from rhostar.datasets.cities import City, city
    from rhostar.datasets.converters import from_igraph, from_networkx
    from rhostar.datasets.dimacs import read_dimacs
    from rhostar.datasets.distribution import Distribution
    from rhostar.datasets.edge_table import from_pandas, read_edge_table
    from rhostar.datasets.generators import (
        IntegerInstances,
        Overlay,
        RandomDigraph,
        Terrain,
        integer_instances,
        overlay,
        random_digraph,
        terrain,
    )
    from rhostar.datasets.metr_la import read_metr_la
    from rhostar.datasets.movingai import GridMap, Scenario, read_map, read_scenario
    from rhostar.datasets.network import Network
    from rhostar.datasets.node_edge import read_node_edge
    from rhostar.datasets.obstacles import ObstacleWorlds, obstacle_worlds
    from rhostar.datasets.sampling import choose_goal, deduplicate, sample_sources, split_by_day, without
    from rhostar.datasets.worlds import Worlds, read_worlds

_HOME = {
    "City": "cities",
    "Distribution": "distribution",
    "GridMap": "movingai",
    "IntegerInstances": "generators",
    "Network": "network",
    "ObstacleWorlds": "obstacles",
    "Overlay": "generators",
    "RandomDigraph": "generators",
    "Scenario": "movingai",
    "Terrain": "generators",
    "Worlds": "worlds",
    "choose_goal": "sampling",
    "city": "cities",
    "deduplicate": "sampling",
    "from_igraph": "converters",
    "from_networkx": "converters",
    "from_pandas": "edge_table",
    "integer_instances": "generators",
    "obstacle_worlds": "obstacles",
    "overlay": "generators",
    "random_digraph": "generators",
    "read_dimacs": "dimacs",
    "read_edge_table": "edge_table",
    "read_map": "movingai",
    "read_metr_la": "metr_la",
    "read_node_edge": "node_edge",
    "read_scenario": "movingai",
    "read_worlds": "worlds",
    "sample_sources": "sampling",
    "split_by_day": "sampling",
    "terrain": "generators",
    "without": "sampling",
}

__all__ = [
    "City",
    "Distribution",
    "GridMap",
    "IntegerInstances",
    "Network",
    "ObstacleWorlds",
    "Overlay",
    "RandomDigraph",
    "Scenario",
    "Terrain",
    "Worlds",
    "choose_goal",
    "city",
    "deduplicate",
    "from_igraph",
    "from_networkx",
    "from_pandas",
    "integer_instances",
    "obstacle_worlds",
    "overlay",
    "random_digraph",
    "read_dimacs",
    "read_edge_table",
    "read_map",
    "read_metr_la",
    "read_node_edge",
    "read_scenario",
    "read_worlds",
    "sample_sources",
    "split_by_day",
    "terrain",
    "without",
]

__getattr__, __dir__ = attach(__name__, _HOME)
