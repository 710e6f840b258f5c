// A* under the weights of one query, guided by hierarchies that are customized to other weights.
//
// Let d_i be the distance to the goal under weights w_i, and let sum_i scale_i * w_i <= p on every edge, p being the
// weights of the query. Then h = sum_i scale_i * d_i is consistent for p: along an edge, each d_i falls by at most w_i.
// Values are rounded down a little. They stay below the true ones and are no longer quite consistent, so searches
// reopen vertices.
//
// Edges on which p is lower ("fallen") keep that true if each w_i is lowered there to c_i, with sum_i scale_i * c_i <=
// p. The distance under the lowered weights needs no new hierarchy. A shortest path goes to the tail of some fallen
// edge, or to the goal, without fallen edges, and then on:
//
//   d'(v) = min(d(v, goal), min_j d(v, tail_j) + after_j),   after_j = c_j + d'(head_j),
//
// so d' is the distance to the nearest of several goals, each with something after it, and after_j is found once for
// each query from the distances among the ends of the fallen edges.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/best_first.hpp"
#include "engine/prices.hpp"
#include "hierarchy/guide.hpp"
#include "hierarchy/many.hpp"
#include "hierarchy/query.hpp"

namespace rhostar {

// Distances under the weights of one customized hierarchy, computed where they are needed.
class IndexGuide final : public HierarchyGuide<IndexView> {
 public:
  IndexGuide(const Topology& topology, const GuideRows& rows)
      : HierarchyGuide(topology.graph.n,
                       {topology.skeleton.rank.data(), rows.of.data(), topology.skeleton.list.data(), nullptr, nullptr},
                       no_way, 1.0) {}
  //! Turns to the nearest of some vertices, each with something after it.
  void lead(const Pair* length, const float* up, const std::vector<std::int32_t>& goals,
            const std::vector<double>& after) {
    forget();
    view_.length = length;
    view_.up = up;
    lead_to(goals, after.data());
  }
};

// One of the hierarchies that guide a search.
struct Term {
  const Customized* on;
  Lanes* lanes;
  IndexGuide* guide;
  const float* up;  // the lengths up, rounded down
  double scale;
};

// The sum of the terms, at least one; +inf where there is no path under any weights of the query.
struct SumRho {
  static constexpr bool infinite = true;
  IndexGuide* first;
  double scale, shrink;
  std::span<const Term> others;

  SumRho(const std::vector<Term>& terms, double shrinking)
      : first(terms[0].guide), scale(terms[0].scale), shrink(shrinking), others(std::span(terms).subspan(1)) {}
  [[gnu::always_inline]] double of(std::int32_t v) const {
    double sum = scale * (*first)(v);
    for (const Term& term : others) sum += term.scale * (*term.guide)(v);
    return sum * shrink;
  }
  void prefetch(const auto& arcs, std::int32_t v) const { first->prefetch(arcs.outer(v)); }
};

struct Fall {
  std::int32_t edge, tail, head;
  double weight, before;  // before: the sum of the terms
};

inline double sum_of_terms(const std::vector<Term>& terms, std::int32_t edge) {
  double sum = 0.0;
  for (const Term& term : terms) sum += term.scale * term.on->weight[edge];
  return sum;
}

// Differences that come from rounding are no falls. They are covered by making all values smaller by as much.
constexpr double rounding_share = 0x1p-44;

// The edges that are cheaper than the terms say.
inline std::vector<Fall> find_falls(const Csr& graph, const Prices& prices, const std::vector<Term>& terms,
                                    bool whole) {
  const double least = whole ? 1.0 : 1.0 - rounding_share;
  std::vector<Fall> falls;
  for (std::size_t i = 0; i < prices.own_edges().size(); ++i) {
    const std::int32_t edge = prices.own_edges()[i];
    const double weight = prices.own_weights()[i], before = sum_of_terms(terms, edge);
    if (!(weight < least * before)) continue;
    const auto* const after = std::upper_bound(graph.first_out, graph.first_out + graph.n + 1, edge);
    falls.push_back({edge, static_cast<std::int32_t>(after - graph.first_out) - 1, graph.head[edge], weight, before});
  }
  return falls;
}

// The part of a fallen edge's weight that a term gets. The parts add up to no more than the weight, but for rounding.
inline double share_of_fall(const Fall& fall, const Term& term, std::size_t count) {
  if (count == 1) return fall.weight / term.scale;
  if (fall.before < no_way) return term.on->weight[fall.edge] * (fall.weight / fall.before);
  return fall.weight / (static_cast<double>(count) * term.scale);
}

// Turns a term to the goal, with the falls.
inline Ending aim_term(const Term& term, std::size_t count, std::int32_t goal, const std::vector<Fall>& falls,
                       Interrupt& interrupt) {
  std::vector<std::int32_t> goals{goal};
  std::vector<double> after{0.0};
  if (const std::size_t k = falls.size()) {
    std::vector<std::int32_t> heads, ends;
    std::vector<double> own;
    for (const Fall& fall : falls) {
      heads.push_back(fall.head);
      ends.push_back(fall.tail);
      own.push_back(share_of_fall(fall, term, count));
    }
    ends.push_back(goal);
    const auto size = static_cast<std::int64_t>(k);
    std::vector<double> apart(k * (k + 1));  // from each head to each tail, and to the goal
    const Ending ending =
        Matrix(*term.on, *term.lanes).run(heads.data(), size, ends.data(), size + 1, size + 1, interrupt, apart.data());
    if (ending.status != Status::done) return ending;
    std::vector<double> rest(k);  // from each tail over its edge
    std::vector<bool> settled(k);
    for (std::size_t j = 0; j < k; ++j) rest[j] = own[j] + apart[j * (k + 1) + k];
    for (std::size_t round = 0; round < k; ++round) {  // Dijkstra's search against the edges, in a small dense graph
      std::size_t next = k;
      for (std::size_t j = 0; j < k; ++j)
        if (!settled[j] && (next == k || rest[j] < rest[next])) next = j;
      if (!(rest[next] < no_way)) break;
      settled[next] = true;
      goals.push_back(ends[next]);
      after.push_back(rest[next]);
      for (std::size_t j = 0; j < k; ++j) rest[j] = std::min(rest[j], own[j] + apart[j * (k + 1) + next] + rest[next]);
    }
  }
  term.guide->lead(term.on->length, term.up, goals, after);
  return {};
}

// Drops the terms that add little at the source, since every term takes the same time. The rest is still a lower bound.
inline void keep_large(std::vector<Term>& terms, std::int32_t source) {
  constexpr double least_share = 0.03;
  const auto value = [source](const Term& term) { return term.scale * (*term.guide)(source); };
  double sum = 0.0, most = 0.0;
  for (const Term& term : terms) {
    sum += value(term);
    most = std::max(most, value(term));
  }
  if (sum < no_way)
    std::erase_if(terms, [&](const Term& term) { return value(term) < std::min(least_share * sum, most); });
}

// Values must not exceed the true distances. Each length of the hierarchy is a sum in which the weight of an edge is
// rounded at most `roundings` times, and a value is made of at most one length more than there are falls; two or three
// further operations belong to each of these and to each term. (1 + e)^k (1 - k e) <= 1.
inline double shrink_of(std::int64_t roundings, std::size_t falls, std::size_t terms) {
  const auto pieces = static_cast<double>(falls + 1);
  const double operations = pieces * static_cast<double>(roundings + 4) + 4.0 * static_cast<double>(terms) + 8.0;
  return 1.0 - rounding_share - operations * 0x1p-53;
}

// Whether an edge costs no more under the prices than under a term.
inline bool is_unchanged(std::int32_t edge, const Prices& prices, const Term& term) {
  return !prices.has_own(edge) || prices(edge) <= term.on->weight[edge];
}

}  // namespace rhostar
