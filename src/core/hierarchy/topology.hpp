// The part of a hierarchy that depends on the graph alone: its arcs, what they may stand for, and how to customize
// them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "engine/csr.hpp"
#include "hierarchy/minplus.hpp"
#include "hierarchy/plan.hpp"
#include "hierarchy/skeleton.hpp"
#include "hierarchy/stored.hpp"

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
  Top top;
  Below below;
  std::vector<std::int32_t> first_below;  // the first node of the subtree of each node
  std::int64_t pairs = 0;                 // of arcs of one rank: the work of customizing

  //! Memory, in bytes; without the graph.
  std::size_t bytes() const {
    const auto of = [](const auto&... arrays) { return (... + (arrays.size() * sizeof(arrays[0]))); };
    return of(skeleton.vertex, skeleton.begin, skeleton.list_first, skeleton.list, skeleton.rank, skeleton.node,
              skeleton.first, plan.edge, plan.targets, plan.first_target, plan.blocks, below.first_side,
              below.first_node, below.side, below.node, first_below, top.nodes, top.shift);
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
    top.choose(skeleton.begin, skeleton.list_first, skeleton.list, skeleton.node, Below::most_arcs);
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
  Top top;
  top.choose(parts.begin, parts.list_first, parts.list, node, Below::most_arcs);
  const std::int64_t indices = 5 * n + 6 * nodes + static_cast<std::int64_t>(parts.list.size()) + 3 * arcs + targets;
  return 4 * indices + 8 * (sides + entries + edges + nodes) + 16 * (arcs + top.arcs + n);
}

// Which ranks are looked at: all, those of the top, or all others. No small node is in the top.
enum class Part { all, top, below_top };

// Calls visit(to_low, to_high) with the pairs of arcs that `arc` may stand for, from one rank below to its lower and to
// its higher end, until it returns true; false if it never does. low_of() is the lower end.
template <Part part = Part::all, class Low, class Visit>
bool any_below(const Topology& topology, std::int32_t arc, Low&& low_of, Visit&& visit) {
  const Skeleton& skeleton = topology.skeleton;
  const Below& below = topology.below;
  const auto counts = [&](std::int32_t s) { return part == Part::all || topology.top.has(s) == (part == Part::top); };
  if constexpr (part != Part::top)
    for (std::int32_t i = below.first_side[arc]; i < below.first_side[arc + 1]; ++i)
      if (visit(below.side[i].low, below.side[i].high)) return true;
  // Large nodes: that of the lower end itself, and those below both ends.
  const std::int32_t low = low_of(), high = skeleton.high_end(low, arc);
  const std::int32_t s = skeleton.node[low], apart = arc - skeleton.first[low] + 1;
  if (!Below::is_small(skeleton, s) && counts(s))
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
      if (counts(p->node)) {
        const std::int32_t h = skeleton.list_size(p->node);
        for (std::int32_t x = skeleton.begin[p->node + 1] - 1; x >= skeleton.begin[p->node]; --x) {
          const std::int32_t tail = skeleton.first[x + 1] - h;
          if (visit(tail + p->place, tail + q->place)) return true;
        }
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

}  // namespace rhostar
