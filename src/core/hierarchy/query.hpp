// Distances and paths between two vertices by a customized hierarchy.
//
// Every shortest path can be replaced by one that goes up, from rank to higher rank, and then down. All ranks above a
// rank are its ancestors, so a query walks from both ends up the elimination tree, without a queue. What it knows about
// a rank are two lengths: of the best way up from the source, and of the best way down to the target.
//
// The stated rule of summation: an arc that stands for two others is as long as their sum; the way up is added from the
// source on, the way down from the target on; the distance is the sum of both. Path and matrix follow the same rule.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/csr.hpp"
#include "hierarchy/minplus.hpp"
#include "hierarchy/skeleton.hpp"
#include "hierarchy/topology.hpp"

namespace rhostar {

// What one query at a time uses.
struct Lanes {
  std::vector<Pair> known;  // all no_ways between queries
  // A path as a linked list of slots (2 * arc for up, 2 * arc + 1 for down), and those that may stand for two others.
  struct Link {
    std::int32_t slot, next;
  };
  std::vector<Link> links;
  std::vector<std::int32_t> work, more, walked;
  std::vector<double> value;        // all NaN between queries
  std::vector<std::int32_t> place;  // all -1 between queries

  explicit Lanes(std::int32_t n) : known(static_cast<std::size_t>(n), no_ways) {}
};

// Offers what is known about r to the ranks above it.
[[gnu::always_inline]] inline void offer(const Skeleton& skeleton, const Pair* length, Pair* known, Pair here,
                                         std::int32_t r) {
  const std::int32_t s = skeleton.node[r], end = skeleton.begin[s + 1], h = skeleton.list_size(s);
  const std::int32_t* const list = skeleton.list_of(s);
  const Pair* arc = length + skeleton.first[r];
  for (std::int32_t y = r + 1; y < end; ++y, ++arc) known[y] = least(known[y], here + *arc);
  for (std::int32_t i = 0; i < h; ++i) known[list[i]] = least(known[list[i]], here + arc[i]);
}

struct AnyEdge {
  bool operator()(std::int32_t) const { return true; }
};

class Query {
 public:
  Query(const Customized& on, Lanes& lanes) : on_(on), skeleton_(on.topology.skeleton), lanes_(lanes) {}

  //! The distance from s to t, which are vertices; +inf if there is no path.
  double distance(std::int32_t s, std::int32_t t) {
    walk<false>(skeleton_.rank[s], skeleton_.rank[t]);
    return best_;
  }

  //! The same; the path's vertices and edges are appended, unless one of its edges is not wanted, which ends the work
  //! early. False if the lengths are not those of a customized hierarchy.
  template <class Wanted = AnyEdge>
  bool path(std::int32_t s, std::int32_t t, double& distance, std::vector<std::int32_t>& vertices,
            std::vector<std::int32_t>& edges, const Wanted& is_wanted = {}) {
    const std::int32_t from = skeleton_.rank[s], to = skeleton_.rank[t];
    walk<true>(from, to);
    distance = best_;
    bool good = true, wanted = true;
    if (best_ < no_way) {
      lanes_.links.clear();
      good = descend<0>(from);
      std::reverse(lanes_.links.begin(), lanes_.links.end());
      good = good && descend<1>(to) && unpack(is_wanted, wanted);
    }
    if (best_ < no_way && wanted) {
      vertices.push_back(s);
      const auto begin = static_cast<std::ptrdiff_t>(edges.size());
      if (good && !lanes_.links.empty())
        for (std::int32_t i = 0; i >= 0; i = lanes_.links[i].next)
          edges.push_back(on_.topology.plan.edge[lanes_.links[i].slot]);
      for (auto edge = edges.begin() + begin; edge != edges.end(); ++edge)
        vertices.push_back(on_.topology.graph.head[*edge]);
    }
    clear(from);
    clear(to);
    return good;
  }

 private:
  void clear(std::int32_t r) {
    for (; r >= 0; r = skeleton_.next(r)) lanes_.known[r] = no_ways;
  }

  template <bool keep>
  [[gnu::noinline]] void walk(std::int32_t a, std::int32_t b) {
    Pair* const known = lanes_.known.data();
    best_ = no_way;
    meeting_ = -1;
    known[a][0] = 0.0;
    known[b][1] = 0.0;
    while (a != b && a >= 0 && b >= 0) {
      std::int32_t& low = a < b ? a : b;
      low = leave<keep>(low);
    }
    if (a != b) {  // two trees
      for (a = std::max(a, b); a >= 0; a = leave<keep>(a)) {
      }
      return;
    }
    while (a >= 0) {
      const double through = known[a][0] + known[a][1];
      if (through < best_) {
        best_ = through;
        meeting_ = a;
      }
      a = leave<keep>(a);
    }
  }

  // Offers what is known about r to the ranks above it, unless it cannot lead to anything better.
  template <bool keep>
  [[gnu::always_inline]] std::int32_t leave(std::int32_t r) {
    Pair* const known = lanes_.known.data();
    const Pair here = known[r];
    if constexpr (!keep) known[r] = no_ways;
    if (std::min(here[0], here[1]) < best_) offer(skeleton_, on_.length, known, here, r);
    return skeleton_.next(r);
  }

  // Finds the arcs of the best way between `from` and the meeting rank, the last one first: lane 0 up, lane 1 down.
  template <int lane>
  [[gnu::noinline]] bool descend(std::int32_t from) {
    const Pair* const known = lanes_.known.data();
    // The walk from `from`, as far as the meeting rank, and down again.
    auto& walked = lanes_.walked;
    walked.clear();
    for (std::int32_t r = from; r != meeting_; r = skeleton_.next(r)) walked.push_back(r);
    std::int32_t y = meeting_;
    for (auto r = walked.rbegin(); r != walked.rend(); ++r) {
      if (!(known[*r][lane] <= known[y][lane])) continue;
      const std::int32_t arc = skeleton_.arc(*r, y);
      if (arc < 0 || known[*r][lane] + on_.length[arc][lane] != known[y][lane]) continue;
      lanes_.links.push_back({2 * arc + lane, -1});
      y = *r;
    }
    return y == from;
  }

  // Replaces arcs until all are edges. Each round looks at every arc that may stand for two; what it will need is
  // fetched some arcs ahead, in three steps that depend on each other.
  template <class Wanted>
  bool unpack(const Wanted& is_wanted, bool& wanted) {
    auto& links = lanes_.links;
    auto& work = lanes_.work;
    auto& more = lanes_.more;
    work.clear();
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(links.size()); ++i) {
      links[i].next = i + 1;
      work.push_back(i);
    }
    if (links.empty()) return true;
    links.back().next = -1;
    const Below& below = on_.topology.below;
    const std::int32_t* const edge = on_.topology.plan.edge.data();
    while (!work.empty()) {
      more.clear();
      const std::size_t count = work.size();
      const auto slot = [&](std::size_t i) { return links[work[i]].slot; };
      for (std::size_t i = 0; i < count + 6; ++i) {
        if (i < count) {
          __builtin_prefetch(on_.length + slot(i) / 2);
          __builtin_prefetch(edge + slot(i));
          __builtin_prefetch(below.first_side.data() + slot(i) / 2);
        }
        if (i >= 2 && i - 2 < count) {
          const std::int32_t at = slot(i - 2);
          __builtin_prefetch(on_.weight + edge[at]);
          __builtin_prefetch(below.side.data() + below.first_side[at / 2]);
        }
        if (i >= 4 && i - 4 < count) {
          const std::int32_t arc = slot(i - 4) / 2;
          if (below.first_side[arc] < below.first_side[arc + 1]) {
            const Below::Sides& sides = below.side[below.first_side[arc]];
            __builtin_prefetch(on_.length + sides.low);
            __builtin_prefetch(on_.length + sides.high);
          }
        }
        if (i < 6) continue;
        const std::int32_t link = work[i - 6], at = links[link].slot;
        const double want = reinterpret_cast<const double*>(on_.length)[at];
        if (on_.weight[edge[at]] == want) {  // +inf where there is no edge
          if (!is_wanted(edge[at])) return !(wanted = false);
          continue;
        }
        const auto [in, out] = split(at, want);
        if (in < 0) return false;
        const auto fresh = static_cast<std::int32_t>(links.size());
        links.push_back({2 * out, links[link].next});
        links[link] = {2 * in + 1, fresh};
        more.push_back(link);
        more.push_back(fresh);
      }
      std::swap(work, more);
    }
    return true;
  }

  // The two arcs that an arc stands for, one down and one up; {-1, -1} if there are none.
  [[gnu::noinline]] std::pair<std::int32_t, std::int32_t> split(std::int32_t slot, double want) {
    std::pair<std::int32_t, std::int32_t> found{-1, -1};
    const auto low = [&] { return skeleton_.low_end(slot / 2); };
    any_below(on_.topology, slot / 2, low, [&](std::int32_t to_low, std::int32_t to_high) {
      const auto [in, out] = slot % 2 == 0 ? std::pair{to_low, to_high} : std::pair{to_high, to_low};
      if (on_.length[in][1] + on_.length[out][0] != want) return false;
      found = {in, out};
      return true;
    });
    return found;
  }

  const Customized& on_;
  const Skeleton& skeleton_;
  Lanes& lanes_;
  double best_ = no_way;
  std::int32_t meeting_ = -1;
};

}  // namespace rhostar
