// Distances to any goal under one row of weights, found where they are asked for.
//
// Vertices are contracted one after the other, in an order by nested dissection (dissection.hpp). Contracting a vertex
// joins all its remaining neighbors, so that distances among them stay. A Skeleton says which arcs that makes: it
// depends on the graph alone and serves every row of weights. A Hierarchy has the lengths of these arcs for one row,
// without the arcs that no shortest path needs.
//
// Every path can then be replaced by one that first goes up, to vertices contracted later, and then down. All vertices
// above a vertex are its ancestors in a tree. For a goal, one walk up that tree finds how far it is from each ancestor
// by a way down. The distance of a vertex is the least over its ways up: each ancestor is evaluated once and
// remembered. (Customizable contraction hierarchies, Dibbelt, Strasser and Wagner; lazy evaluation as in CH-Potentials,
// Strasser and Zeitz.)
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/csr.hpp"
#include "engine/interrupt.hpp"
#include "engine/status.hpp"
#include "hierarchy/dissection.hpp"
#include "potentials.hpp"

namespace rhostar {

// ---------------------------------------------------------------- which arcs there are

// Vertices are named by their rank in the order. above[first[r]] .. above[first[r+1]-1] are the ranks above r that it
// is joined to when it is contracted, in increasing order; the first of them is its parent in the tree.
struct PlainSkeleton {
  std::vector<std::int32_t> rank;  // of the user's vertex
  std::vector<std::int64_t> first;
  std::vector<std::int32_t> above;

  std::int32_t size() const { return static_cast<std::int32_t>(rank.size()); }
  std::int32_t parent(std::int32_t r) const { return first[r] < first[r + 1] ? above[first[r]] : -1; }
};

struct PlainSkeletonOutcome {
  Ending ending;  // limit: more than `most` arcs would be needed; at: how many
  PlainSkeleton skeleton;
};

inline PlainSkeletonOutcome make_plain_skeleton(const Neighbors& near, const std::vector<std::int32_t>& order,
                                                std::int64_t most, Interrupt& interrupt) {
  PlainSkeletonOutcome out;
  const std::int32_t n = near.size();
  const auto size = static_cast<std::size_t>(n);
  std::vector<std::int32_t>& rank = out.skeleton.rank;
  rank.resize(size);
  for (std::int32_t r = 0; r < n; ++r) rank[order[r]] = r;

  // The tree first (Liu): a vertex's parent is the first vertex above it that it gets joined to.
  std::vector<std::int32_t> parent(size, -1), shortcut(size, -1), mark(size, -1);
  for (std::int32_t r = 0; r < n; ++r)
    for (std::int64_t a = near.first[order[r]]; a < near.first[order[r] + 1]; ++a) {
      std::int32_t below = rank[near.list[a]];
      if (below > r) continue;
      while (shortcut[below] != r) {
        const std::int32_t next = shortcut[below];
        shortcut[below] = r;
        if (next < 0) {
          parent[below] = r;
          break;
        }
        below = next;
        if (below == r) break;
      }
    }

  // r is above exactly those vertices that lie on the tree's paths from its lower neighbors up to it.
  const auto each_below = [&](std::int32_t r, auto&& visit) {
    mark[r] = r;
    for (std::int64_t a = near.first[order[r]]; a < near.first[order[r] + 1]; ++a)
      for (std::int32_t below = rank[near.list[a]]; below < r && mark[below] != r; below = parent[below]) {
        mark[below] = r;
        visit(below);
      }
  };
  std::vector<std::int64_t>& first = out.skeleton.first;
  first.assign(size + 1, 0);
  std::int64_t total = 0;
  for (std::int32_t r = 0; r < n; ++r) {
    each_below(r, [&](std::int32_t below) {
      ++first[below + 1];
      ++total;
    });
    if ((r & 0xFFF) == 0 && interrupt.requested()) return out.ending.status = Status::stopped, out;
  }
  if (total > most) return out.ending = {Status::limit, total}, out;
  for (std::int32_t r = 0; r < n; ++r) first[r + 1] += first[r];
  out.skeleton.above.resize(static_cast<std::size_t>(total));
  std::vector<std::int64_t> next(first.begin(), first.end() - 1);
  std::fill(mark.begin(), mark.end(), -1);
  for (std::int32_t r = 0; r < n; ++r)
    each_below(r, [&](std::int32_t below) { out.skeleton.above[next[below]++] = r; });
  return out;
}

// ---------------------------------------------------------------- sums that never exceed the true ones

// No value may be above the true distance, or A* with lower bounds could miss the optimum. So lengths are rounded down
// wherever they are rounded.
//
// Most weights lose nothing worth mentioning if they are cut to whole multiples of a small unit, a power of 2. Then all
// sums are exact, and values are exactly the distances under the weights after the cut. Weights that differ too much in
// size are left as they are, and their sums are rounded down one by one.
struct Grain {
  double unit = 0.0;  // 0: nothing is cut, and sums round
  bool exact() const { return unit > 0.0; }
  double cut(double weight) const {
    return exact() && std::isfinite(weight) ? std::floor(weight / unit) * unit : weight;
  }
};

template <class W>
bool has_only_multiples(const W* weights, std::int32_t m, double unit) {
  return std::all_of(weights, weights + m, [unit](W weight) {
    const double units = static_cast<double>(weight) / unit;
    return !std::isfinite(units) || units == std::floor(units);
  });
}

template <class W>
Grain choose_grain(const W* weights, const Csr& graph) {
  constexpr double loss = 1.0 / (1 << 20);  // of any weight, at most
  double sum = 0.0, most = 0.0, least = std::numeric_limits<double>::infinity();
  for (std::int32_t arc = 0; arc < graph.m; ++arc) {
    const auto weight = static_cast<double>(weights[arc]);
    if (!std::isfinite(weight) || weight == 0.0) continue;
    sum += weight;
    most = std::max(most, weight);
    least = std::min(least, weight);
  }
  if (sum == 0.0) return {1.0};
  // No shortest path visits an edge or a vertex twice. Any sum of two of their lengths is below 2^53 units.
  int exponent = 0;
  std::frexp(std::min(sum, most * graph.n), &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - 51, -1074));
  return {unit <= least * loss || has_only_multiples(weights, graph.m, unit) ? unit : 0.0};
}

// a + b for numbers that are not negative, rounded down or up. The error of a sum is itself a double (Dekker).
template <bool exact>
double sum_down(double a, double b) {
  const double sum = a + b;
  if constexpr (exact) return sum;
  const double error = std::min(a, b) - (sum - std::max(a, b));  // NaN for infinite sums
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(sum) - (error < 0.0 ? 1u : 0u));
}
template <bool exact>
double sum_up(double a, double b) {
  const double sum = a + b;
  if constexpr (exact) return sum;
  const double error = std::min(a, b) - (sum - std::max(a, b));
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(sum) + (error > 0.0 ? 1u : 0u));
}

// ---------------------------------------------------------------- their lengths

// Arcs between r and one above it: up leads there, down leads back.
struct Lengths {
  double up, down;
};

// The graph's own arcs have their weights, all others the length of the shortest way over vertices below both ends.
// Vertices are looked at in order; each takes in what the vertices below it have to offer (as in a left-looking
// factorization of a matrix).
template <bool exact, class W>
Ending contract(const Csr& graph, const W* weights, const Grain& grain, const PlainSkeleton& skeleton,
                Interrupt& interrupt, std::vector<Lengths>& lengths) {
  constexpr double none = std::numeric_limits<double>::infinity();
  const std::int32_t n = graph.n;
  const auto& [rank, first, above] = skeleton;
  lengths.assign(above.size(), {none, none});
  for (std::int32_t v = 0; v < n; ++v)
    for (std::int32_t arc = graph.first_out[v]; arc < graph.first_out[v + 1]; ++arc) {
      const std::int32_t tail = rank[v], head = rank[graph.head[arc]], low = std::min(tail, head);
      const auto begin = above.begin() + first[low], end = above.begin() + first[low + 1];
      Lengths& found = lengths[std::lower_bound(begin, end, std::max(tail, head)) - above.begin()];
      (tail < head ? found.up : found.down) = grain.cut(static_cast<double>(weights[arc]));
    }
  // Each vertex waits in the list of the next vertex above it.
  std::vector<std::int32_t> waiting(static_cast<std::size_t>(n), -1), after(static_cast<std::size_t>(n), -1);
  std::vector<std::int64_t> turn(first.begin(), first.end() - 1);
  std::vector<Lengths> best(static_cast<std::size_t>(n));
  const auto wait = [&](std::int32_t r) {
    if (turn[r] == first[r + 1]) return;
    after[r] = waiting[above[turn[r]]];
    waiting[above[turn[r]]] = r;
  };
  std::int64_t work = 0;
  for (std::int32_t r = 0; r < n; ++r) {
    for (std::int64_t i = first[r]; i < first[r + 1]; ++i) best[above[i]] = lengths[i];
    for (std::int32_t below = waiting[r]; below >= 0;) {
      const std::int32_t following = after[below];
      const std::int64_t at = turn[below]++, end = first[below + 1];
      const auto [back, out] = std::pair{lengths[at].up, lengths[at].down};  // below -> r, r -> below
      if (out < none || back < none)
        for (std::int64_t i = at + 1; i < end; ++i) {
          Lengths& there = best[above[i]];
          there.up = std::min(there.up, sum_down<exact>(out, lengths[i].up));
          there.down = std::min(there.down, sum_down<exact>(lengths[i].down, back));
        }
      work += end - at;
      wait(below);
      below = following;
    }
    for (std::int64_t i = first[r]; i < first[r + 1]; ++i) lengths[i] = best[above[i]];
    wait(r);
    if (work > (1 << 20)) {
      work = 0;
      if (interrupt.requested()) return {.status = Status::stopped};
    }
  }
  return {};
}

// Whether each arc is needed, up and down.
struct Needed {
  std::vector<bool> up, down;
};

// Lowers every length to the true distance, from the top down, and finds the arcs that no shortest path needs: longer
// than the true distance, or as long as a way over a vertex in between that is nearer. (Nearer, so that two arcs never
// count on each other.) Other ways are rounded up: an arc that goes has a true substitute.
template <bool exact_sums>
Ending prune(const PlainSkeleton& skeleton, Interrupt& interrupt, std::vector<Lengths>& lengths, Needed& needed) {
  constexpr double none = std::numeric_limits<double>::infinity();
  const std::int32_t n = skeleton.size();
  const auto& first = skeleton.first;
  const auto& above = skeleton.above;
  needed.up.assign(above.size(), false);
  needed.down.assign(above.size(), false);
  std::vector<Lengths> exact;
  std::vector<std::uint8_t> idle_up, idle_down;
  std::vector<std::int32_t> place(static_cast<std::size_t>(n), -1);
  std::int64_t work = 0;
  for (std::int32_t r = n - 1; r >= 0; --r) {
    const std::int64_t begin = first[r];
    const auto count = static_cast<std::int32_t>(first[r + 1] - begin);
    const Lengths* own = lengths.data() + begin;
    exact.assign(own, own + count);
    idle_up.assign(static_cast<std::size_t>(count), 0);
    idle_down.assign(static_cast<std::size_t>(count), 0);
    for (std::int32_t j = 0; j < count; ++j) place[above[begin + j]] = j;
    for (std::int32_t i = 0; i < count; ++i) {  // over x to y, both above r, x below y
      const std::int32_t x = above[begin + i];
      const double leave = own[i].up, arrive = own[i].down;
      const auto join = [&](std::int32_t j, const Lengths& between) {
        const double out = sum_up<exact_sums>(leave, between.up), in = sum_up<exact_sums>(between.down, arrive);
        if (out < exact[j].up) exact[j].up = out;
        if (in < exact[j].down) exact[j].down = in;
        if (leave < own[j].up && out <= own[j].up) idle_up[j] = 1;
        if (arrive < own[j].down && in <= own[j].down) idle_down[j] = 1;
        // And over y to x.
        exact[i].up = std::min(exact[i].up, sum_up<exact_sums>(own[j].up, between.down));
        exact[i].down = std::min(exact[i].down, sum_up<exact_sums>(between.up, own[j].down));
      };
      // All vertices above x that r has are among those that x has: scan x's, or look each of them up.
      const std::int64_t x_begin = first[x], x_end = first[x + 1];
      const std::int32_t left = count - i - 1;
      if (std::int64_t{left} * 10 < x_end - x_begin) {
        auto from = above.begin() + x_begin;
        for (std::int32_t j = i + 1; j < count; ++j) {
          from = std::lower_bound(from, above.begin() + x_end, above[begin + j]);
          join(j, lengths[from - above.begin()]);
        }
        work += 8 * left;
      } else {
        for (std::int64_t k = x_begin; k < x_end; ++k)
          if (const std::int32_t j = place[above[k]]; j >= 0) join(j, lengths[k]);
        work += x_end - x_begin;
      }
    }
    for (std::int32_t j = 0; j < count; ++j) {
      place[above[begin + j]] = -1;
      needed.up[begin + j] = own[j].up < none && !idle_up[j] && !(exact[j].up < own[j].up);
      needed.down[begin + j] = own[j].down < none && !idle_down[j] && !(exact[j].down < own[j].down);
    }
    std::copy(exact.begin(), exact.end(), lengths.begin() + begin);
    if (work > (1 << 20)) {
      work = 0;
      if (interrupt.requested()) return {.status = Status::stopped};
    }
  }
  return {};
}

// ---------------------------------------------------------------- what searches read

// Vertices are named by their places in the tree, a parent before its children, each branch without a gap: what a value
// needs next is near. An arc is a length and the place of an ancestor.
template <class Real>
struct Arc {
  static constexpr std::size_t bytes = sizeof(Real) + sizeof(std::int32_t);
  Real length;
  std::int32_t place;

  static Arc read(const std::uint8_t* arcs, std::int64_t i) {
    Arc arc;
    std::memcpy(&arc.length, arcs + i * static_cast<std::int64_t>(bytes), sizeof(Real));
    std::memcpy(&arc.place, arcs + i * static_cast<std::int64_t>(bytes) + sizeof(Real), sizeof(std::int32_t));
    return arc;
  }
  void append_to(std::vector<std::uint8_t>& arcs) const {
    const std::size_t at = arcs.size();
    arcs.resize(at + bytes);
    std::memcpy(arcs.data() + at, &length, sizeof(Real));
    std::memcpy(arcs.data() + at + sizeof(Real), &place, sizeof(std::int32_t));
  }
};

// Rounds down where it has to, so that no length exceeds the true one. None is negative.
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

struct HierarchyArrays {
  Ending ending;
  std::vector<std::int32_t> place;   // of the user's vertex
  std::vector<std::int32_t> parent;  // -1 for a root
  std::vector<std::int32_t> first_up, first_down;
  std::vector<std::uint8_t> up, down;  // arcs from a vertex to its ancestors, and from these to it
  std::int64_t roundings = 0;          // how often the sum in a value may be rounded; 0 if all sums are exact
};

template <class Real>
void pack(const PlainSkeleton& skeleton, const std::vector<Lengths>& lengths, const Needed& needed,
          HierarchyArrays& out) {
  const std::int32_t n = skeleton.size();
  const auto size = static_cast<std::size_t>(n);
  std::vector<std::int32_t> branch(size, 1), place(size), next(size), at(size);
  for (std::int32_t r = 0; r < n; ++r)
    if (const std::int32_t parent = skeleton.parent(r); parent >= 0) branch[parent] += branch[r];
  std::int32_t free = 0;
  for (std::int32_t r = n - 1; r >= 0; --r) {
    const std::int32_t parent = skeleton.parent(r);
    std::int32_t& begin = parent < 0 ? free : next[parent];
    place[r] = begin;
    begin += branch[r];
    next[r] = place[r] + 1;
    at[place[r]] = r;
  }
  out.place.resize(size);
  for (std::int32_t v = 0; v < n; ++v) out.place[v] = place[skeleton.rank[v]];
  for (std::int32_t i = 0; i < n; ++i) {
    const std::int32_t r = at[i], parent = skeleton.parent(r);
    out.parent.push_back(parent < 0 ? -1 : place[parent]);
    out.first_up.push_back(static_cast<std::int32_t>(out.up.size() / Arc<Real>::bytes));
    out.first_down.push_back(static_cast<std::int32_t>(out.down.size() / Arc<Real>::bytes));
    for (std::int64_t a = skeleton.first[r]; a < skeleton.first[r + 1]; ++a) {
      const std::int32_t there = place[skeleton.above[a]];
      if (needed.up[a]) Arc<Real>{at_most<Real>(lengths[a].up), there}.append_to(out.up);
      if (needed.down[a]) Arc<Real>{at_most<Real>(lengths[a].down), there}.append_to(out.down);
    }
  }
  out.first_up.push_back(static_cast<std::int32_t>(out.up.size() / Arc<Real>::bytes));
  out.first_down.push_back(static_cast<std::int32_t>(out.down.size() / Arc<Real>::bytes));
}

// The most vertices on a way up the tree.
inline std::int32_t height(const PlainSkeleton& skeleton) {
  std::vector<std::int32_t> depth(static_cast<std::size_t>(skeleton.size()), 1);
  for (std::int32_t r = skeleton.size() - 1; r >= 0; --r)
    if (const std::int32_t parent = skeleton.parent(r); parent >= 0) depth[r] = depth[parent] + 1;
  return depth.empty() ? 0 : *std::max_element(depth.begin(), depth.end());
}

template <class Real, bool exact, class W>
HierarchyArrays build_with(const Csr& graph, const W* weights, const Grain& grain, const PlainSkeleton& skeleton,
                           Interrupt& interrupt) {
  HierarchyArrays out;
  std::vector<Lengths> lengths;
  Needed needed;
  out.ending = contract<exact>(graph, weights, grain, skeleton, interrupt, lengths);
  if (out.ending.status == Status::done) out.ending = prune<exact>(skeleton, interrupt, lengths, needed);
  if (out.ending.status == Status::done) pack<Real>(skeleton, lengths, needed, out);
  // A value is the sum of the arcs on a way up and a way down.
  if (!exact) out.roundings = 2 * std::int64_t{height(skeleton)};
  return out;
}

template <class Real, class W>
HierarchyArrays build_hierarchy(const Csr& graph, const W* weights, const PlainSkeleton& skeleton,
                                Interrupt& interrupt) {
  const Grain grain = choose_grain(weights, graph);
  return grain.exact() ? build_with<Real, true>(graph, weights, grain, skeleton, interrupt)
                       : build_with<Real, false>(graph, weights, grain, skeleton, interrupt);
}

// The arrays of one hierarchy, which somebody else owns.
struct HierarchyView {
  std::int32_t n;
  const std::int32_t *place, *parent, *first_up, *first_down;
  const std::uint8_t *up, *down;
  std::int64_t ups, downs;  // how many arcs
};

// Whether searches may follow the arrays: places are a permutation, and every arc leads to a smaller place.
template <class Real>
bool is_hierarchy(const HierarchyView& view) {
  std::vector<bool> taken(static_cast<std::size_t>(view.n));
  for (std::int32_t v = 0; v < view.n; ++v) {
    const std::int32_t place = view.place[v];
    if (place < 0 || place >= view.n || taken[place]) return false;
    taken[place] = true;
    if (view.parent[v] < -1 || view.parent[v] >= v) return false;
  }
  const auto check = [&](const std::int32_t* first, const std::uint8_t* arcs, std::int64_t count) {
    if (first[0] != 0 || first[view.n] != count) return false;
    for (std::int32_t i = 0; i < view.n; ++i) {
      if (first[i] > first[i + 1] || first[i + 1] > count) return false;
      for (std::int32_t a = first[i]; a < first[i + 1]; ++a) {
        const auto arc = Arc<Real>::read(arcs, a);
        if (arc.place < 0 || arc.place >= i || !(arc.length >= 0) || !std::isfinite(arc.length)) return false;
      }
    }
    return true;
  };
  return check(view.first_up, view.up, view.ups) && check(view.first_down, view.down, view.downs);
}

// `beyond` is the value of vertices from which there is no path: no finite value exceeds it, so that rho is consistent
// for the weights. These vertices are searched too, after all others, since their arcs may be open today.
template <class Real>
class HierarchyGuide final : public Guide {
 public:
  HierarchyGuide(const HierarchyView& view, double beyond, double scale)
      : Guide(view.n, scale, beyond, view.place), view_(view) {}

 protected:
  // Walks up from each goal: whatever can be reached downwards from above is an ancestor.
  void turn(const std::vector<std::int32_t>& goals) override {
    const std::uint32_t down = done_ - 1;  // the record has the length of a way down to the goal
    walk_.clear();
    for (const std::int32_t goal : goals) {
      known_[view_.place[goal]] = {0.0, down};
      for (std::int32_t i = view_.place[goal]; i >= 0; i = view_.parent[i]) walk_.push_back(i);
    }
    if (goals.size() > 1) {  // each once, and an ancestor after all that are below it
      std::sort(walk_.begin(), walk_.end(), std::greater<>());
      walk_.erase(std::unique(walk_.begin(), walk_.end()), walk_.end());
    }
    for (const std::int32_t i : walk_) {
      if (known_[i].stamp != down) continue;
      const double here = known_[i].value;
      for (std::int32_t a = view_.first_down[i]; a < view_.first_down[i + 1]; ++a) {
        const auto arc = Arc<Real>::read(view_.down, a);
        const double far = here + static_cast<double>(arc.length);
        Known& there = known_[arc.place];
        if (there.stamp != down || far < there.value) there = {far, down};
      }
    }
  }

  // Most often all above is known.
  double evaluate(std::int32_t place) override {
    double best = known_[place].stamp == done_ - 1 ? known_[place].value : std::numeric_limits<double>::infinity();
    const std::int32_t end = view_.first_up[place + 1];
    for (std::int32_t a = view_.first_up[place]; a < end; ++a) {
      const auto arc = Arc<Real>::read(view_.up, a);
      const Known& there = known_[arc.place];
      if (there.stamp != done_) return evaluate_above({place, a, best});
      best = std::min(best, static_cast<double>(arc.length) + there.value);
    }
    return best;
  }

 private:
  struct Frame {
    std::int32_t place, arc;
    double best;
  };
  // The same for an arc to a vertex that is not known yet: depth first, each arc once.
  [[gnu::noinline]] double evaluate_above(Frame frame) {
    stack_.clear();  // an earlier call may have run out of memory
    while (true) {
      const std::int32_t end = view_.first_up[frame.place + 1];
      bool deeper = false;
      for (; frame.arc < end; ++frame.arc) {
        const auto arc = Arc<Real>::read(view_.up, frame.arc);
        const Known& there = known_[arc.place];
        if (there.stamp != done_) {
          stack_.push_back(frame);  // comes back to the same arc
          frame = enter(arc.place);
          deeper = true;
          break;
        }
        frame.best = std::min(frame.best, static_cast<double>(arc.length) + there.value);
      }
      if (deeper) continue;
      if (stack_.empty()) return frame.best;
      known_[frame.place] = {frame.best, done_};
      frame = stack_.back();
      stack_.pop_back();
    }
  }
  Frame enter(std::int32_t i) const {
    const Known& known = known_[i];
    return {i, view_.first_up[i], known.stamp == done_ - 1 ? known.value : std::numeric_limits<double>::infinity()};
  }

  HierarchyView view_;
  std::vector<std::int32_t> walk_;
  std::vector<Frame> stack_;
};

template <class Real>
class HierarchyPotential final : public Potential {
 public:
  // Each of `roundings` sums, and the two products with the scale, may be too large by 2^-53 of itself: that much comes
  // off. (1 + e)^k (1 - k e) <= 1.
  HierarchyPotential(const HierarchyView& view, std::int64_t roundings, double beyond, double scale)
      : Potential(view.n), view_(view), beyond_(beyond),
        scale_(roundings == 0 ? scale : scale * (1.0 - static_cast<double>(roundings + 3) * 0x1p-53)) {}

 protected:
  std::unique_ptr<Guide> make() const override {
    return std::make_unique<HierarchyGuide<Real>>(view_, beyond_, scale_);
  }

 private:
  HierarchyView view_;
  double beyond_, scale_;
};

}  // namespace rhostar
