// Views of the graph and weight arrays that callers pass in, and the checks that make their indices safe to use.
//
// A graph is in compressed sparse row form: the arcs leaving vertex v are first_out[v] .. first_out[v+1]-1,
// and head[arc] is where an arc ends. Children are in index order, without loops and without parallels.
// A weight of +inf says that the arc is absent in this instance.
//
// Words: the core says "arc" for a directed edge, which the Python side and its users call "edge". In the core "edge"
// is the user's number of an arc: a search may count the arcs of a transposed or renumbered graph.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "engine/interrupt.hpp"
#include "engine/status.hpp"
#include "engine/ties.hpp"

namespace rhostar {

struct Csr {
  const std::int32_t* first_out;
  const std::int32_t* head;
  std::int32_t n;
  std::int32_t m;
};

// ---------------------------------------------------------------- structure

// Everything the kernels rely on so that they never read out of bounds. The offender is a vertex for bad_offsets, and
// an arc for the other flaws.
inline Ending validate(const Csr& graph) {
  const auto flaw = [](Status status, std::int32_t offender) { return Ending{.status = status, .offender = offender}; };
  if (graph.first_out[0] != 0) return flaw(Status::bad_offsets, 0);
  if (graph.first_out[graph.n] != graph.m) return flaw(Status::bad_offsets, graph.n);
  for (std::int32_t v = 0; v < graph.n; ++v)
    if (graph.first_out[v] > graph.first_out[v + 1]) return flaw(Status::bad_offsets, v);
  for (std::int32_t v = 0; v < graph.n; ++v) {
    std::int32_t previous = -1;
    for (std::int32_t arc = graph.first_out[v]; arc < graph.first_out[v + 1]; ++arc) {
      const std::int32_t c = graph.head[arc];
      if (c < 0 || c >= graph.n) return flaw(Status::bad_head, arc);
      if (c == v) return flaw(Status::loop, arc);
      if (c <= previous) return flaw(Status::child_order, arc);
      previous = c;
    }
  }
  return {};
}

// Position of the arc tail -> head, or -1.
inline std::int32_t find_arc(const Csr& graph, std::int32_t tail, std::int32_t head) {
  const std::int32_t* begin = graph.head + graph.first_out[tail];
  const std::int32_t* end = graph.head + graph.first_out[tail + 1];
  const std::int32_t* found = std::lower_bound(begin, end, head);
  return found != end && *found == head ? static_cast<std::int32_t>(found - graph.head) : -1;
}

// The same graph with every arc reversed; edge[arc] is the arc's position in the original.
struct Transpose {
  std::vector<std::int32_t> first_out, head, edge;

  explicit Transpose(const Csr& graph)
      : first_out(static_cast<std::size_t>(graph.n) + 1), head(graph.m), edge(graph.m) {
    for (std::int32_t arc = 0; arc < graph.m; ++arc) ++first_out[graph.head[arc] + 1];
    for (std::int32_t v = 0; v < graph.n; ++v) first_out[v + 1] += first_out[v];
    std::vector<std::int32_t> next(first_out.begin(), first_out.end() - 1);
    for (std::int32_t v = 0; v < graph.n; ++v)
      for (std::int32_t arc = graph.first_out[v]; arc < graph.first_out[v + 1]; ++arc) {
        const std::int32_t slot = next[graph.head[arc]]++;
        head[slot] = v;
        edge[slot] = arc;
      }
  }

  Csr view() const {
    return {first_out.data(), head.data(), static_cast<std::int32_t>(first_out.size()) - 1,
            static_cast<std::int32_t>(head.size())};
  }
};

// ---------------------------------------------------------------- weights

template <class W>
constexpr bool is_absent(W weight) {
  if constexpr (std::is_floating_point_v<W>) return weight == std::numeric_limits<W>::infinity();
  return false;
}

// Arcs in their own direction, and against it, with the weights of one instance. What a search asks of arcs:
// enter(v) before the arcs of v are read; inner and outer turn the user's number of a vertex into the one that the
// search counts with and back; tie(v) decides among equal scores, as ties.hpp says; edge(arc) is the user's number of
// an arc. (order.hpp has arcs for which these differ.)
template <class W>
struct OutArcs {
  static constexpr bool ties_are_vertices = true;
  Csr graph;
  const W* weights;
  void enter(std::int32_t) {}
  W weight(std::int32_t arc) const { return weights[arc]; }
  std::int64_t edge(std::int32_t arc) const { return arc; }
  std::int32_t inner(std::int32_t v) const { return v; }
  std::int32_t outer(std::int32_t v) const { return v; }
  std::uint64_t tie(std::int32_t v) const { return tie_of(v); }
  std::int32_t find(std::int32_t tail, std::int32_t head) const { return find_arc(graph, tail, head); }
  void prefetch_rho(const double* rho, std::int32_t v) const { __builtin_prefetch(rho + v); }
  // What an expansion of v will read first.
  void prefetch_row(std::int32_t v) const {
    const std::int32_t arc = graph.first_out[v];
    __builtin_prefetch(graph.head + arc);
    __builtin_prefetch(weights + arc);
    __builtin_prefetch(reinterpret_cast<const char*>(weights + arc) + 64);
  }
};

template <class W>
struct InArcs {
  static constexpr bool ties_are_vertices = true;
  Csr graph;  // the transpose
  const std::int32_t* original;
  const W* weights;  // in the order of the original
  void enter(std::int32_t) {}
  W weight(std::int32_t arc) const { return weights[original[arc]]; }
  std::int64_t edge(std::int32_t arc) const { return original[arc]; }
  std::int32_t inner(std::int32_t v) const { return v; }
  std::int32_t outer(std::int32_t v) const { return v; }
  std::uint64_t tie(std::int32_t v) const { return tie_of(v); }
  void prefetch_row(std::int32_t v) const {
    const std::int32_t arc = graph.first_out[v];
    __builtin_prefetch(graph.head + arc);
    __builtin_prefetch(original + arc);
  }
  void prefetch_weight(std::int32_t arc) const { __builtin_prefetch(weights + original[arc]); }
};

// Costs must stay below this. Sums of integers are exact up to 2^53, but 2^53 + 1 is rounded to 2^53: a sum that is
// there may be wrong, and one below it never is.
template <class W>
constexpr double cost_limit = std::is_integral_v<W> ? 0x1p53 : std::numeric_limits<double>::infinity();

template <class W>
constexpr bool is_bad(W weight) {
  if constexpr (std::is_same_v<W, std::int64_t>) return weight < 0 || weight >= (std::int64_t{1} << 53);
  return !(weight >= W{0});  // true for NaN
}

struct RowCheck {
  std::int64_t first_bad;  // -1 if all weights are good
  bool has_absent;
};

// One pass over a snapshot in blocks, so that the compiler can vectorize the common case.
template <class W>
RowCheck check_row(const W* weights, std::int64_t m) {
  constexpr std::int64_t block = 4096;
  bool absent = false;
  for (std::int64_t begin = 0; begin < m; begin += block) {
    const std::int64_t end = std::min(m, begin + block);
    bool bad = false;
    for (std::int64_t e = begin; e < end; ++e) {
      bad |= is_bad(weights[e]);
      absent |= is_absent(weights[e]);
    }
    if (bad)
      for (std::int64_t e = begin; e < end; ++e)
        if (is_bad(weights[e])) return {e, absent};
  }
  return {-1, absent};
}

struct WeightsOutcome {
  Ending ending;                     // at: the snapshot; offender: the arc
  std::vector<std::uint8_t> absent;  // for each snapshot, 1 if an arc is absent
};

// Snapshots of m weights each, up to the first bad weight.
template <class W>
WeightsOutcome check_rows(const W* weights, std::int64_t stride, std::int64_t count, std::int64_t m,
                          Interrupt& interrupt) {
  WeightsOutcome all{.ending = {}, .absent = std::vector<std::uint8_t>(static_cast<std::size_t>(count))};
  for (std::int64_t row = 0; row < count; ++row) {
    if (interrupt.requested()) {
      all.ending = {Status::stopped, row};
      return all;
    }
    const RowCheck check = check_row(weights + row * stride, m);
    all.absent[static_cast<std::size_t>(row)] = check.has_absent;
    if (check.first_bad >= 0) {
      all.ending = {Status::bad_weight, row, check.first_bad};
      return all;
    }
  }
  return all;
}

// reached[v] = 1 for every vertex from which `goal` can be reached over arcs that are present.
template <class W>
void reach(const InArcs<W>& arcs, std::int32_t goal, std::uint8_t* reached) {
  std::fill(reached, reached + arcs.graph.n, std::uint8_t{0});
  std::vector<std::int32_t> stack{goal};
  reached[goal] = 1;
  while (!stack.empty()) {
    const std::int32_t v = stack.back();
    stack.pop_back();
    for (std::int32_t arc = arcs.graph.first_out[v]; arc < arcs.graph.first_out[v + 1]; ++arc) {
      const std::int32_t c = arcs.graph.head[arc];
      if (reached[c] || (arcs.weights && is_absent(arcs.weight(arc)))) continue;
      reached[c] = 1;
      stack.push_back(c);
    }
  }
}

}  // namespace rhostar
