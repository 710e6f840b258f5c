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
#include <numeric>
#include <utility>
#include <vector>

#include "engine/csr.hpp"
#include "hierarchy/customize.hpp"
#include "hierarchy/skeleton.hpp"

namespace rhostar {

// Where an arc may come from: all pairs of arcs from one rank below to its two ends. For ranks with few arcs the pairs
// are listed with the arc. Large nodes are found from both ends of the arc instead: `node` has those whose lists have a
// rank, the greatest first, and where in the list it is.
struct Below {
  static constexpr std::int32_t most_arcs = 8;  // of the ranks of a small node

  struct Sides {
    std::int32_t low, high;  // the arcs to the lower end and to the higher one
  };
  struct Entry {
    std::int32_t node, place;
  };
  Stored<std::int32_t> first_side, first_node;
  Stored<Sides> side;
  Stored<Entry> node;

  static bool is_small(const Skeleton& skeleton, std::int32_t s) {
    return skeleton.begin[s + 1] - skeleton.begin[s] - 1 + skeleton.list_size(s) <= most_arcs;
  }

  void list_all(const Skeleton& skeleton, const Plan& plan) {
    // Counted in the first round; in the second, each range is written from its end.
    std::vector<std::int32_t> sides_from(static_cast<std::size_t>(skeleton.arcs()) + 1);
    std::vector<std::int32_t> nodes_from(skeleton.vertex.size() + 1);
    std::vector<Sides> sides;
    std::vector<Entry> entries;
    for (const bool write : {false, true}) {
      for (std::int32_t s = 0; s < skeleton.nodes(); ++s) {
        const std::int32_t h = skeleton.list_size(s);
        const std::int32_t* const list = skeleton.list_of(s);
        if (!is_small(skeleton, s)) {
          for (std::int32_t i = 0; i < h; ++i) {
            if (write) entries[--nodes_from[list[i]]] = {s, i};
            else ++nodes_from[list[i]];
          }
          continue;
        }
        const auto put = [&](std::int32_t of, std::int32_t low, std::int32_t high) {
          if (write) sides[--sides_from[of]] = {low, high};
          else ++sides_from[of];
        };
        const std::int32_t end = skeleton.begin[s + 1];
        for (std::int32_t x = skeleton.begin[s]; x < end; ++x) {
          const std::int32_t row = skeleton.first[x], tail = skeleton.first[x + 1] - h;
          for (std::int32_t y = x + 1; y < end; ++y)  // rows of a node are aligned
            for (std::int32_t low = row + (y - x - 1), high = low + 1, of = skeleton.first[y]; high < tail + h; ++high)
              put(of++, low, high);
          const std::int32_t* target = plan.targets.data() + plan.first_target[s];
          for (std::int32_t i = 0; i < h; ++i)
            for (std::int32_t j = i + 1; j < h; ++j)
              put(h <= Plan::short_list ? *target++ : skeleton.arc(list[i], list[j]), tail + i, tail + j);
        }
      }
      if (write) break;
      for (auto* from : {&sides_from, &nodes_from}) std::partial_sum(from->begin(), from->end(), from->begin());
      sides.resize(static_cast<std::size_t>(sides_from.back()));
      entries.resize(static_cast<std::size_t>(nodes_from.back()));
    }
    first_side = std::move(sides_from);
    first_node = std::move(nodes_from);
    side = std::move(sides);
    node = std::move(entries);
  }

  // If they come from a file: whether all numbers are in their ranges, and arcs come from ranks below, so that no
  // search for an arc's parts goes on forever. Nodes and places are those that list_all() finds.
  bool check(const Skeleton& skeleton) const {
    const auto is_partition = [](const Stored<std::int32_t>& first, std::size_t count, std::size_t size) {
      bool good = first.size() == count + 1 && first[0] == 0 && static_cast<std::size_t>(first[count]) == size;
      for (std::size_t i = 0; good && i < count; ++i) good = first[i] <= first[i + 1];
      return good;
    };
    if (!is_partition(first_side, static_cast<std::size_t>(skeleton.arcs()), side.size()) ||
        !is_partition(first_node, skeleton.vertex.size(), node.size()))
      return false;
    bool good = true;
    for (std::int32_t arc = 0; arc < skeleton.arcs(); ++arc)
      for (std::int32_t i = first_side[arc]; i < first_side[arc + 1]; ++i)
        good &= 0 <= side[i].low && side[i].low < arc && 0 <= side[i].high && side[i].high < arc;
    for (std::int32_t r = 0; r < skeleton.size(); ++r)
      for (std::int32_t i = first_node[r]; good && i < first_node[r + 1]; ++i) {
        const auto [s, place] = node[i];
        good = 0 <= s && s < skeleton.nodes() && 0 <= place && place < skeleton.list_size(s) &&
               skeleton.list_of(s)[place] == r;
      }
    return good;
  }
};

// All that depends on the graph alone.
struct Topology {
  Csr graph;
  Skeleton skeleton;
  Plan plan;
  Below below;
  std::vector<std::int32_t> first_below;  // the first node of the subtree of each node
  std::int64_t pairs = 0;                 // of arcs of one rank: the work of customizing

  //! Memory, in bytes; without the graph.
  std::size_t bytes() const {
    const auto of = [](const auto&... arrays) { return (... + (arrays.size() * sizeof(arrays[0]))); };
    return of(skeleton.vertex, skeleton.begin, skeleton.list_first, skeleton.list, skeleton.rank, skeleton.node,
              skeleton.first, plan.edge, plan.targets, plan.first_target, plan.blocks, below.first_side,
              below.first_node, below.side, below.node, first_below);
  }

  // Everything that follows from the parts of the skeleton, or, if `saved`, a check of what a file has of it. False if
  // they are not those of a skeleton of this graph.
  bool open(bool saved = false) {
    if (!skeleton.open(graph.n)) return false;
    if (saved) {
      if (!plan.open(graph, skeleton) || !below.check(skeleton)) return false;
    } else {
      if (!plan.prepare(graph, skeleton)) return false;
      below.list_all(skeleton, plan);
    }
    for (std::int32_t r = 0; r < graph.n; ++r) {
      const std::int64_t arcs = skeleton.first[r + 1] - skeleton.first[r];
      pairs += arcs * (arcs - 1) / 2;
    }
    first_below = first_nodes(skeleton);
    // Postorder: each subtree without a gap.
    std::vector<std::int32_t> size(first_below.size(), 1);
    for (std::int32_t s = 0; s < skeleton.nodes(); ++s) {
      if (size[s] != s - first_below[s] + 1) return false;
      if (const std::int32_t p = skeleton.parent(s); p >= 0) size[skeleton.node[p]] += size[s];
    }
    return true;
  }
};

// Memory that a topology with these parts and one set of costs for `edges` edges take, in bytes; the lengths of all
// arrays are known before one of them is made.
inline std::int64_t needed_bytes(const SkeletonParts& parts, std::int64_t edges) {
  const auto n = static_cast<std::int64_t>(parts.vertex.size()),
             nodes = static_cast<std::int64_t>(parts.begin.size()) - 1;
  std::vector<std::int32_t> node(parts.vertex.size());
  std::int64_t arcs = 0, targets = 0, sides = 0, entries = 0;
  for (std::int32_t s = 0; s < nodes; ++s)
    std::fill(node.begin() + parts.begin[s], node.begin() + parts.begin[s + 1], s);
  for (std::int32_t s = 0; s < nodes; ++s) {
    const std::int64_t k = parts.begin[s + 1] - parts.begin[s], h = parts.list_first[s + 1] - parts.list_first[s];
    arcs += k * h + k * (k - 1) / 2;
    if (k - 1 + h <= Below::most_arcs)
      for (std::int64_t row = h; row < h + k; ++row) sides += row * (row - 1) / 2;
    else entries += h;
    if (h <= Plan::short_list) {
      targets += h * (h - 1) / 2;
      continue;
    }
    const std::int32_t* const list = parts.list.data() + parts.list_first[s];
    for (std::int64_t i = 0; i + 1 < h; ++i)
      if (i == 0 || node[list[i]] != node[list[i - 1]]) targets += 2 + h - (i + 1);
  }
  const std::int64_t indices = 5 * n + 4 * nodes + static_cast<std::int64_t>(parts.list.size()) + 3 * arcs + targets;
  return 4 * indices + 8 * (sides + entries + edges + nodes) + 16 * (arcs + n);
}

// Calls visit(to_low, to_high) with the pairs of arcs that `arc` may stand for, from one rank below to its lower and to
// its higher end, until it returns true; false if it never does. low_of() is the lower end.
template <class Low, class Visit>
bool any_below(const Topology& topology, std::int32_t arc, Low&& low_of, Visit&& visit) {
  const Skeleton& skeleton = topology.skeleton;
  const Below& below = topology.below;
  for (std::int32_t i = below.first_side[arc]; i < below.first_side[arc + 1]; ++i)
    if (visit(below.side[i].low, below.side[i].high)) return true;
  // Large nodes: that of the lower end itself, and those below both ends.
  const std::int32_t low = low_of(), high = skeleton.high_end(low, arc);
  const std::int32_t s = skeleton.node[low], apart = arc - skeleton.first[low] + 1;
  if (!Below::is_small(skeleton, s))
    for (std::int32_t x = low - 1; x >= skeleton.begin[s]; --x) {
      const std::int32_t to_low = skeleton.first[x] + (low - x - 1);
      if (visit(to_low, to_low + apart)) return true;
    }
  const Below::Entry *p = below.node.data() + below.first_node[low], *q = below.node.data() + below.first_node[high];
  const Below::Entry* const p_end = below.node.data() + below.first_node[low + 1];
  const Below::Entry* const q_end = below.node.data() + below.first_node[high + 1];
  while (p < p_end && q < q_end) {
    if (p->node > q->node) {
      ++p;
    } else if (p->node < q->node) {
      ++q;
    } else {
      const std::int32_t h = skeleton.list_size(p->node);
      for (std::int32_t x = skeleton.begin[p->node + 1] - 1; x >= skeleton.begin[p->node]; --x) {
        const std::int32_t tail = skeleton.first[x + 1] - h;
        if (visit(tail + p->place, tail + q->place)) return true;
      }
      ++p, ++q;
    }
  }
  return false;
}

// A customized hierarchy, as queries read it.
struct Customized {
  const Topology& topology;
  const double* weight;
  const Pair* length;
};

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

class Query {
 public:
  Query(const Customized& on, Lanes& lanes) : on_(on), skeleton_(on.topology.skeleton), lanes_(lanes) {}

  //! The distance from s to t, which are vertices; +inf if there is no path.
  double distance(std::int32_t s, std::int32_t t) {
    walk<false>(skeleton_.rank[s], skeleton_.rank[t]);
    return best_;
  }

  //! The same; the path's vertices and edges are appended. False if the lengths are not those of a customized
  //! hierarchy.
  bool path(std::int32_t s, std::int32_t t, double& distance, std::vector<std::int32_t>& vertices,
            std::vector<std::int32_t>& edges) {
    const std::int32_t from = skeleton_.rank[s], to = skeleton_.rank[t];
    walk<true>(from, to);
    distance = best_;
    bool good = true;
    if (best_ < no_way) {
      lanes_.links.clear();
      good = descend<0>(from);
      std::reverse(lanes_.links.begin(), lanes_.links.end());
      good = good && descend<1>(to) && unpack();
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
  bool unpack() {
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
        if (on_.weight[edge[at]] == want) continue;  // +inf where there is no edge
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
