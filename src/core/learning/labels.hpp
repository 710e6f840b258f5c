// Costs-to-go and optimal trees of many snapshots with one goal, for learners; one snapshot is in memory at a time.
//
// A tree follows a fixed rule: of all optimal paths the one with the fewest arcs, and of those the lexicographically
// smallest. Following any tight arc (w + distance of its head = distance of its tail) could run in a cycle of zero
// weights.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/distances.hpp"

namespace rhostar {

// Snapshot i is weights + rows[i] * stride, in the order of the original graph.
template <class W, class Arcs>
struct Snapshots {
  Arcs arcs;  // its weights are set for each snapshot
  const W* weights;
  std::int64_t stride;
  const std::int64_t* rows;
  std::int64_t size;
};

// Calls reduce(i, arcs, distance) for each snapshot, where distance(v) is the cost-to-go of v.
template <class W, class Arcs, class Reduce>
Ending label(const Snapshots<W, Arcs>& snapshots, std::int32_t goal, Interrupt* interrupt, Workspace& workspace,
             Reduce&& reduce) {
  Arcs arcs = snapshots.arcs;
  for (std::int64_t i = 0; i < snapshots.size; ++i) {
    if (interrupt && interrupt->requested()) return {Status::stopped, i};
    arcs.weights = snapshots.weights + snapshots.rows[i] * snapshots.stride;
    const Ending one = search_against(arcs, goal, interrupt, workspace);
    if (one.status != Status::done) return {one.status, i, one.offender};
    reduce(i, arcs, distance_in(arcs, workspace));
  }
  return {};
}

// Finite costs-to-go, added up and counted; each snapshot counts times[i] times.
struct Sums {
  double* sum;
  std::int64_t* count;

  void add(std::int32_t n, std::int64_t times, auto distance) const {
    for (std::int32_t v = 0; v < n; ++v) {
      const double d = distance(v);
      const bool finite = d < infinity;
      sum[v] += finite ? static_cast<double>(times) * d : 0.0;
      count[v] += finite ? times : 0;
    }
  }
};

// Where paths begin in one snapshot, each with a weight; a vertex may occur more than once.
struct Starts {
  const std::int32_t* vertex;
  const double* weight;
  std::int64_t begin, end;
};

// Memory that the trees of one batch share.
struct TreeScratch {
  std::vector<std::int32_t> order, hops, parent;
  std::vector<double> own;
};

// edge[v]: the first arc of the optimal path from v, by the user's number; -1 for the goal and where there is no path.
// below[v]: the weight of all starts that have v on their path, v itself not counted.
template <class W>
void optimal_tree(const InArcs<W>& arcs, std::int32_t goal, auto distance, const Starts& starts, TreeScratch& scratch,
                  std::int32_t* edge, double* below) {
  const Csr& graph = arcs.graph;
  auto& [order, hops, parent, own] = scratch;
  order.clear();
  hops.assign(static_cast<std::size_t>(graph.n), -1);
  std::fill(edge, edge + graph.n, -1);
  std::fill(below, below + graph.n, 0.0);
  own.assign(static_cast<std::size_t>(graph.n), 0.0);
  for (std::int64_t i = starts.begin; i < starts.end; ++i) own[starts.vertex[i]] += starts.weight[i];
  parent.assign(static_cast<std::size_t>(graph.n), -1);
  order.push_back(goal);
  hops[goal] = 0;
  // Breadth first over tight arcs: every vertex is met with the fewest arcs, and among parents with one arc fewer the
  // smallest is kept.
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::int32_t c = order[k];
    const double beyond = distance(c);
    for (std::int32_t arc = graph.first_out[c]; arc < graph.first_out[c + 1]; ++arc) {
      const std::int32_t v = graph.head[arc];
      const bool fresh = hops[v] < 0;
      if (!fresh && (hops[v] != hops[c] + 1 || parent[v] <= c)) continue;
      if (is_absent(arcs.weight(arc)) || beyond + static_cast<double>(arcs.weight(arc)) != distance(v)) continue;
      if (fresh) {
        hops[v] = hops[c] + 1;
        order.push_back(v);
      }
      parent[v] = c;
      edge[v] = static_cast<std::int32_t>(arcs.edge(arc));
    }
  }
  for (std::size_t k = order.size(); k-- > 1;) below[parent[order[k]]] += below[order[k]] + own[order[k]];
}

}  // namespace rhostar
