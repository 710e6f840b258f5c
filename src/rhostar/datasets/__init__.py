"""Readers for your files, and generators of networks with a known distribution.

It takes three lines to get from a file to a set of instances, in every format::

    network = rs.datasets.read_dimacs("rome99.gr")                  # also .gr.gz, with a .co file
    goal = rs.datasets.choose_goal(network.graph)
    instances = network.sample(500, goal=goal, seed=0)

    town = rs.datasets.read_map("den520d.map")                      # MovingAI, 8 or 4 neighbors
    queries = rs.datasets.read_scenario("den520d.map.scen")
    instances = town.queries(queries)                               # or town.sample(500)

    worlds = rs.datasets.read_worlds("forest/train")                # a folder of PNG files, 201 x 201 cells
    instances = worlds[:100].instances(dtype="float32")             # lower left to upper right
    train, test = instances.split(0.8, seed=0)

    roads = rs.datasets.read_node_edge("TG.cnode.txt", "TG.cedge.txt")
    goal = rs.datasets.choose_goal(roads.graph, roads.weights[0])
    instances = roads.sample(500, goal=goal, seed=0)

    traffic = rs.datasets.read_metr_la("metr_la_week.npz")          # 2,016 snapshots of travel times
    instances = traffic.sample(1000, goal=0, seed=0)                # independent draws from the week
    earlier, later = rs.datasets.split_by_day(instances)

    network = rs.datasets.read_edge_table("times.csv")              # or .parquet: tail, head, weight, snapshot
    goal = network.graph.vertex("work")
    instances = network.sample(500, goal=goal, seed=0)

    network = rs.interop.from_networkx(streets, "travel_time")     # an OSMnx graph; also from_igraph, from_pandas
    goal = network.graph.vertex(53138)                              # the label is the OSM id
    instances = network.sample(500, goal=goal, seed=0)

Without a file, generators give instances from a known distribution::

    town = rs.datasets.city(1000, seed=0)                           # also obstacle_worlds
    train, test = town.draw(200, seed=1), town.draw(200, seed=2)    # independent instances, any number
    low, high = town.weight_bounds                                  # town.law says how they are distributed
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
