from ._graph import Graph as Graph
