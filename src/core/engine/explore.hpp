// Dijkstra's search from one vertex outward: everything within a cost, or the nearest of some goals.
//
// Vertices are settled in the order of (cost, vertex). Each is settled once, and its parent was settled before it, also
// where weights are zero: so the parents are a tree.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/best_first.hpp"

namespace rhostar {

// What ends the search, and what it has settled. Vertices are the search's own numbers.
struct Frontier {
  double most = infinity;                   // a vertex that costs more is not settled
  std::vector<std::uint64_t> is_goal = {};  // a bit for each vertex; empty if there are no goals
  std::int64_t wanted = 0;                  // goals that are still to be found
  std::int64_t left = 0;                    // goals that are not settled
  std::vector<std::int32_t> settled = {};   // if there are goals: goals alone

  void add_goal(std::int32_t v) {
    std::uint64_t& word = is_goal[static_cast<std::size_t>(v) / 64];
    const std::uint64_t bit = std::uint64_t{1} << (v % 64);
    left += !(word & bit);
    word |= bit;
  }
  // Called once for each vertex, when its cost is final. After the last goal that is wanted, others that cost as much
  // may still come, over edges that cost nothing.
  bool ends(std::int32_t v, double g) {
    if (g > most) return true;
    if (is_goal.empty()) {
      settled.push_back(v);
      return false;
    }
    if (!(is_goal[static_cast<std::size_t>(v) / 64] >> (v % 64) & 1)) return false;
    settled.push_back(v);
    if (--wanted == 0) most = g;
    return --left == 0;
  }
};

struct ExploreRule {
  static constexpr bool greedy = false;
  Frontier* frontier;
  NoRho rho = {};
  double score(double g, double) const { return g; }
  bool ends(std::int32_t v, double g) const { return frontier->ends(v, g); }
};

// From `source`, the user's number. Costs and parents of what was settled are in the workspace. A status other than
// `solved` (the frontier ended it) or `no_path` (nothing is left) is a failure, or `budget`.
template <class Arcs>
Outcome explore(const Arcs& arcs, std::int32_t source, Frontier& frontier, const Options& options,
                Workspace& workspace) {
  NoLog log;
  const ExploreRule rule{&frontier};
  // No narrow keys: a search that has to start again would settle vertices twice.
  if constexpr (Arcs::ties_are_vertices)
    if (arcs.graph.n <= largest_near)
      return best_first<Key, true>(arcs, rule, arcs.inner(source), -1, options, workspace, log);
  return best_first<Key, false>(arcs, rule, arcs.inner(source), -1, options, workspace, log);
}

}  // namespace rhostar
