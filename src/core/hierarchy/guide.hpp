// Distances to any goal under one row of weights, computed where they are needed.
//
// A customized hierarchy (customize.hpp) has lengths up and down for the arcs of each rank. For a goal, one walk up its
// ancestors finds how far each of them is from the goal by a way down. The distance of a rank is the minimum over its
// arcs up, of the arc plus the distance of the rank above, and over that way down (lazy evaluation as in CH-Potentials,
// Strasser and Zeitz). Each rank is evaluated once for each goal.
//
// All ranks that a rank has arcs to are among those that its parent has arcs to, and the parent itself. So if the
// parent is known, all of them are: a value is found by climbing to the first ancestor that is known, and evaluating
// downward from there, without further checks.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <type_traits>
#include <vector>

#include "engine/csr.hpp"
#include "hierarchy/customize.hpp"
#include "hierarchy/skeleton.hpp"
#include "potentials.hpp"

namespace rhostar {

// ---------------------------------------------------------------- values that never exceed the true ones

// No value may be above the true distance, or A* with lower bounds could miss the optimum.
//
// Most weights lose almost nothing if they are rounded down to multiples of a small unit, a power of 2. Then all
// sums are exact, and values are exactly the distances under the weights after the cut. Weights that differ too much in
// size are left as they are, and their sums round; then all values are made a little smaller (HierarchyPotential).

// Sums of multiples of this unit do not round: no shortest path visits an edge or a vertex twice, so that the sum of
// two lengths of shortest paths is below 2^53 units. 0 if there is none.
template <class W>
double exact_unit(const W* weights, const Csr& graph) {
  double sum = 0.0, most = 0.0;
  for (std::int32_t e = 0; e < graph.m; ++e) {
    const auto weight = static_cast<double>(weights[e]);
    if (!std::isfinite(weight)) continue;
    sum += weight;
    most = std::max(most, weight);
  }
  const double longest = std::min(sum, most * graph.n);
  if (!std::isfinite(longest)) return 0.0;
  int exponent = 0;
  std::frexp(longest, &exponent);
  return longest == 0.0 ? 1.0 : std::ldexp(1.0, std::max(exponent - 51, -1074));
}

template <class W>
bool has_only_multiples(const W* weights, std::int32_t m, double unit) {
  return unit > 0.0 && std::all_of(weights, weights + m, [unit](W weight) {
           const double units = static_cast<double>(weight) / unit;
           return !std::isfinite(units) || units == std::floor(units);
         });
}

// Cuts weights to multiples of the unit, unless one of them would lose more than 2^-20 of itself. Bad weights stay bad.
template <class W>
std::vector<double> cut_weights(const W* weights, const Csr& graph) {
  constexpr double loss = 1.0 / (1 << 20);
  std::vector<double> cut(weights, weights + graph.m);
  const double unit = exact_unit(weights, graph);
  if (std::all_of(cut.begin(), cut.end(), [&](double w) { return !(w > 0.0) || w >= unit / loss; }) && unit > 0.0)
    for (double& weight : cut)
      if (std::isfinite(weight)) weight = std::floor(weight / unit) * unit;
  return cut;
}

// Rounds down where it has to. The value is not negative.
template <class Real>
Real at_most(double value) {
  if constexpr (std::is_same_v<Real, double>) {
    return value;
  } else {
    const auto rounded = static_cast<float>(value);
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(rounded) -
                                (static_cast<double>(rounded) > value ? 1u : 0u));
  }
}

// ---------------------------------------------------------------- what searches read

// The arcs of one rank: their lengths are up[first] .. and down[first] .., and they lead to the next `chain` ranks and
// then to list[list] .. list[list + count - 1].
struct GuideRow {
  std::int32_t first, list;
  std::uint32_t sizes;  // chain, and count in the upper half

  // Ranks that one rank has arcs to have arcs to each other. Arcs are counted in 31 bits, so there are less than 2^16.
  std::int32_t chain() const { return static_cast<std::int32_t>(sizes & 0xFFFFu); }
  std::int32_t count() const { return static_cast<std::int32_t>(sizes >> 16); }
};

// How often the weight of an edge may be rounded in a value: as part of arcs that stand for two others, on the way up
// and on the way down. Each time the next rank is an ancestor or a descendant, so each is at most the height of the
// tree.
inline std::int64_t most_roundings(const Skeleton& skeleton) {
  std::vector<std::int32_t> depth(skeleton.vertex.size(), 1);
  std::int32_t height = 0;
  for (std::int32_t r = skeleton.size() - 1; r >= 0; --r) {
    if (const std::int32_t next = skeleton.next(r); next >= 0) depth[r] = depth[next] + 1;
    height = std::max(height, depth[r]);
  }
  return 3 * std::int64_t{height};
}

struct GuideRows {
  std::vector<GuideRow> of;  // each rank
  std::int64_t roundings;    // most_roundings

  explicit GuideRows(const Skeleton& skeleton) : roundings(most_roundings(skeleton)) {
    of.reserve(skeleton.vertex.size());
    for (std::int32_t r = 0; r < skeleton.size(); ++r) {
      const std::int32_t s = skeleton.node[r];
      const auto chain = static_cast<std::uint32_t>(skeleton.begin[s + 1] - 1 - r);
      of.push_back(
          {skeleton.first[r], skeleton.list_first[s], chain | static_cast<std::uint32_t>(skeleton.list_size(s)) << 16});
    }
  }
};

// Two numbers in single precision.
inline Pair two_of(const float* at) {
  using Half = float __attribute__((vector_size(8)));
  Half half;
  std::memcpy(&half, at, sizeof half);
  return __builtin_convertvector(half, Pair);
}

// The arrays of one potential, which somebody else owns.
template <class Real>
struct GuideView {
  std::int32_t n;
  const std::int32_t* rank;  // of each vertex
  const GuideRow* rows;      // of each rank
  const std::int32_t* list;
  std::int64_t list_size;
  const Real *up, *down;
  std::int64_t arcs;

  double up_of(std::int64_t arc) const { return static_cast<double>(up[arc]); }
  double down_of(std::int64_t arc) const { return static_cast<double>(down[arc]); }
  Pair two_up(std::int64_t arc) const {
    if constexpr (std::is_same_v<Real, double>) return Pair{up[arc], up[arc + 1]};
    else return two_of(up + arc);
  }
  void prefetch(std::int64_t arc) const { __builtin_prefetch(up + arc); }

  // Whether searches may follow the arrays: ranks are a permutation, and every arc leads to a higher rank.
  bool is_good() const {
    std::vector<bool> taken(static_cast<std::size_t>(n));
    std::int64_t next = 0;
    for (std::int32_t v = 0; v < n; ++v) {
      if (rank[v] < 0 || rank[v] >= n || taken[rank[v]]) return false;
      taken[rank[v]] = true;
      const GuideRow& row = rows[v];
      if (row.first != next || row.chain() >= n - v || row.list < 0 || row.list > list_size - row.count()) return false;
      next += row.chain() + row.count();
      for (std::int32_t i = row.list; i < row.list + row.count(); ++i)
        if (list[i] <= v || list[i] >= n) return false;
    }
    const auto is_length = [](Real length) { return length >= 0; };
    return next == arcs && std::all_of(up, up + arcs, is_length) && std::all_of(down, down + arcs, is_length);
  }
};

// The lengths of a customized hierarchy itself. A search reads many lengths up, so they are a quarter as large.
struct IndexView {
  const std::int32_t* rank;
  const GuideRow* rows;
  const std::int32_t* list;
  const Pair* length;
  const float* up;  // rounded down

  double up_of(std::int64_t arc) const { return static_cast<double>(up[arc]); }
  double down_of(std::int64_t arc) const { return length[arc][1]; }
  Pair two_up(std::int64_t arc) const { return two_of(up + arc); }
  void prefetch(std::int64_t arc) const { __builtin_prefetch(up + arc); }
};

// The edges into each vertex v: edge[first[v]] .. edge[first[v + 1] - 1]; and the weights of the distances, by edge.
// Null if they are not used.
struct Entries {
  const std::int32_t *first = nullptr, *edge = nullptr;
  const double* usual = nullptr;

  bool is_good(std::int32_t n, std::int64_t m) const {
    if (first[0] != 0 || first[n] != m) return false;
    for (std::int32_t v = 0; v < n; ++v)
      if (first[v] > first[v + 1]) return false;
    return std::all_of(edge, edge + m, [m](std::int32_t e) { return 0 <= e && e < m; });
  }
};

// `beyond` is the value of vertices from which there is no path: no finite value exceeds it, so that rho is consistent
// for the weights. These vertices are searched too, after all others, since their arcs may be open today.
//
// With entries, all values except those of the goals are larger by the smallest delay on an edge into a goal: how much
// more it costs in the query than usual. Every path uses one of these edges. So values stay below the true distances,
// and consistent but for the rounding of the sum, if no weight of the query is below those of the distances.
template <class View>
class HierarchyGuide : public Guide {
 public:
  HierarchyGuide(std::int32_t n, const View& view, double beyond, double scale, const Entries& entries = {})
      : Guide(n, scale, beyond, view.rank), view_(view), entries_(entries) {
    looks_ = entries.first != nullptr;
  }

 protected:
  void turn(const std::vector<std::int32_t>& goals) override { lead_to(goals, nullptr); }

  double added(const std::vector<std::int32_t>& goals, const Today& today) const override {
    double least = no_way;
    for (const std::int32_t goal : goals)
      for (std::int32_t i = entries_.first[goal]; i < entries_.first[goal + 1]; ++i) {
        const double weight = today ? today(entries_.edge[i]) : 0.0;
        if (weight == no_way) continue;
        const double delay = weight - scale_ * entries_.usual[entries_.edge[i]];
        if (!(delay > 0.0)) return 0.0;
        least = std::min(least, delay);
      }
    return least < no_way ? least : 0.0;
  }

  // The minimum over the goals of the distance to it plus what comes after it; after[i] is 0 if null.
  void lead_to(const std::vector<std::int32_t>& goals, const double* after) {
    for (const std::int32_t goal : goals)
      for (std::int32_t r = view_.rank[goal]; r >= 0; r = parent(r)) touched_.push_back(r);
    if (goals.size() > 1) {  // each once, and an ancestor after all that are below it
      std::sort(touched_.begin(), touched_.end());
      touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    }
    // First, the lengths of ways down to a goal, as they are; then values, as they are kept.
    double* const known = known_.data();
    for (const std::int32_t r : touched_) known[r] = no_way;
    for (std::size_t i = 0; i < goals.size(); ++i) {
      double& there = known[view_.rank[goals[i]]];
      there = std::min(there, after ? after[i] : 0.0);
    }
    for (const std::int32_t r : touched_) {
      const GuideRow& row = view_.rows[r];
      const std::int32_t* const list = view_.list + row.list;
      const std::int32_t chain = row.chain(), count = row.count();
      const double here = known[r];
      const auto offer = [&](double& there, double length) { there = std::min(there, here + length); };
      for (std::int32_t i = 0; i < chain; ++i) offer(known[r + 1 + i], view_.down_of(row.first + i));
      for (std::int32_t i = 0; i < count; ++i) offer(known[list[i]], view_.down_of(row.first + chain + i));
    }
    for (auto r = touched_.rbegin(); r != touched_.rend(); ++r) known[*r] = -evaluate(*r, known[*r]);
  }

  [[gnu::noinline]] double find(std::int32_t rank) override {
    const std::size_t begin = touched_.size();
    for (std::int32_t r = rank; r >= 0 && !is_known(known_[r]); r = parent(r)) {
      touched_.push_back(r);
      view_.prefetch(view_.rows[r].first);
    }
    for (std::size_t i = touched_.size(); i-- > begin;) known_[touched_[i]] = -evaluate(touched_[i], no_way);
    return known_[rank];
  }

  View view_;

 private:
  Entries entries_;

  std::int32_t parent(std::int32_t r) const {
    const GuideRow& row = view_.rows[r];
    return row.chain() ? r + 1 : row.count() ? view_.list[row.list] : -1;
  }

  // Values are kept with the opposite sign.
  [[gnu::always_inline]] double evaluate(std::int32_t r, double best) {
    const GuideRow& row = view_.rows[r];
    const double* const known = known_.data();
    std::int64_t up = row.first;
    // Two minima at a time of two lengths each: one alone would have to wait for the one before.
    Pair one{best, no_way}, other = no_ways;
    const auto take = [&](std::int32_t count, auto&& kept) {
      std::int32_t i = 0;
      for (; i + 4 <= count; i += 4) {
        one = least(view_.two_up(up + i) - Pair{kept(i), kept(i + 1)}, one);
        other = least(view_.two_up(up + i + 2) - Pair{kept(i + 2), kept(i + 3)}, other);
      }
      if (i + 2 <= count) {
        one = least(view_.two_up(up + i) - Pair{kept(i), kept(i + 1)}, one);
        i += 2;
      }
      if (i < count) best = std::min(best, view_.up_of(up + i) - kept(i));
      up += count;
    };
    take(row.chain(), [next = known + r + 1](std::int32_t i) { return next[i]; });
    take(row.count(), [known, list = view_.list + row.list](std::int32_t i) { return known[list[i]]; });
    one = least(one, other);
    return std::min(best, std::min(one[0], one[1]));
  }
};

template <class Real>
class HierarchyPotential final : public Potential {
 public:
  // Where sums round, each of `roundings` sums that the weight of an edge is part of, and the two products with the
  // scale, may make it too large by 2^-53 of itself: that much comes off. (1 + e)^k (1 - k e) <= 1.
  HierarchyPotential(const GuideView<Real>& view, std::int64_t roundings, double beyond, double scale,
                     const Entries& entries)
      : Potential(view.n), view_(view), beyond_(beyond),
        scale_(roundings == 0 ? scale : scale * (1.0 - static_cast<double>(roundings + 3) * 0x1p-53)),
        entries_(entries) {}

 protected:
  std::unique_ptr<Guide> make() const override {
    return std::make_unique<HierarchyGuide<GuideView<Real>>>(n, view_, beyond_, scale_, entries_);
  }

 private:
  GuideView<Real> view_;
  double beyond_, scale_;
  Entries entries_;
};

}  // namespace rhostar
