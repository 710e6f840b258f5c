// The optimal path S* of many instances, by a fixed rule: of all optimal paths one with the fewest arcs, and of those
// the lexicographically smallest. Inconsistency is measured along it.
//
// An arc (v, c) is tight if w + d(c) == d(v), with the same sum that the reverse search made: rounding and zero weights
// then leave every vertex with a tight arc, and no tolerance is needed. Tight arcs may form a cycle where weights are
// zero, so the fewest arcs are counted layer by layer.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/distances.hpp"

namespace rhostar {

template <class W>
struct PathBatch {
  Csr graph;
  InArcs<W> against;  // its weights are set for each instance
  const W* weights;
  std::int64_t stride;
  const std::int64_t* rows;
  const std::int32_t* sources;
  const std::int32_t* goals;
  std::int64_t size;
};

struct PathOutcome {
  Ending ending;
  std::vector<double> cost;        // added up from the start, as searches do; inf if there is no path
  std::vector<std::int64_t> end;   // where instance i's arcs end in `edge`
  std::vector<std::int32_t> edge;  // the arcs of the paths, one path after the other
};

// Memory that the paths of one batch share; layer[v] is valid where stamp[v] is that of the path.
struct PathScratch {
  std::vector<std::int32_t> order, layer;
  std::vector<std::int64_t> stamp, reaches;
  std::int64_t generation = 0;

  explicit PathScratch(std::int32_t n) : layer(n), stamp(n, 0), reaches(n, 0) {}
};

// Appends the arcs of S* and returns its cost. `distance` are the costs-to-go; the source's is finite.
template <class W>
double append_optimal_path(const Csr& graph, const W* weights, std::int32_t source, std::int32_t goal, auto distance,
                           PathScratch& scratch, std::vector<std::int32_t>& edges) {
  auto& [order, layer, stamp, reaches, generation] = scratch;
  ++generation;
  const auto tight = [&](std::int32_t v, std::int32_t arc) {
    return !is_absent(weights[arc]) && distance(graph.head[arc]) + static_cast<double>(weights[arc]) == distance(v);
  };
  // Layers from the source over tight arcs, until the one that holds the goal is known.
  order.assign(1, source);
  layer[source] = 0;
  stamp[source] = generation;
  for (std::size_t k = 0; stamp[goal] != generation; ++k) {
    const std::int32_t v = order[k];
    for (std::int32_t arc = graph.first_out[v]; arc < graph.first_out[v + 1]; ++arc) {
      const std::int32_t c = graph.head[arc];
      if (stamp[c] == generation || !tight(v, arc)) continue;
      stamp[c] = generation;
      layer[c] = layer[v] + 1;
      order.push_back(c);
    }
  }
  // Which of them lead to the goal layer by layer; then the smallest such child each time.
  reaches[goal] = generation;
  const auto leads = [&](std::int32_t v, std::int32_t arc) {
    const std::int32_t c = graph.head[arc];
    return reaches[c] == generation && layer[c] == layer[v] + 1 && tight(v, arc);
  };
  for (std::size_t k = order.size(); k-- > 0;) {
    const std::int32_t v = order[k];
    if (layer[v] >= layer[goal]) continue;
    for (std::int32_t arc = graph.first_out[v]; arc < graph.first_out[v + 1]; ++arc)
      if (leads(v, arc)) {
        reaches[v] = generation;
        break;
      }
  }
  double cost = 0.0;
  for (std::int32_t v = source; v != goal;) {
    std::int32_t arc = graph.first_out[v];
    while (!leads(v, arc)) ++arc;
    edges.push_back(arc);
    cost += static_cast<double>(weights[arc]);
    v = graph.head[arc];
  }
  return cost;
}

// Instances that follow each other with one snapshot and one goal share the search.
template <class W>
PathOutcome optimal_paths(const PathBatch<W>& batch, Interrupt* interrupt, Workspace& workspace) {
  PathOutcome all;
  PathScratch scratch(batch.graph.n);
  InArcs<W> against = batch.against;
  for (std::int64_t i = 0; i < batch.size; ++i) {
    against.weights = batch.weights + batch.rows[i] * batch.stride;
    if (i == 0 || batch.rows[i] != batch.rows[i - 1] || batch.goals[i] != batch.goals[i - 1]) {
      Ending one{Status::stopped};
      if (!interrupt || !interrupt->requested()) one = search_against(against, batch.goals[i], interrupt, workspace);
      if (one.status != Status::done) {
        all.ending = {one.status, i, one.offender};
        return all;
      }
    }
    const auto distance = distance_in(against, workspace);
    double cost = infinity;
    if (distance(batch.sources[i]) < infinity)
      cost = append_optimal_path(batch.graph, against.weights, batch.sources[i], batch.goals[i], distance, scratch,
                                 all.edge);
    all.cost.push_back(cost);
    all.end.push_back(static_cast<std::int64_t>(all.edge.size()));
  }
  return all;
}

}  // namespace rhostar
