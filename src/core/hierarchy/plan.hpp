// Where the results of customizing go; prepared once for each skeleton.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "engine/csr.hpp"
#include "hierarchy/skeleton.hpp"
#include "hierarchy/stored.hpp"

namespace rhostar {

struct Plan {
  // Nodes with lists of at most this many ranks have an arc for each pair of the list; the others have, for each node
  // that their list meets, places in the rows of that node.
  static constexpr std::int32_t short_list = 6;
  static constexpr std::int64_t block_arcs = 1 << 13;

  // The nodes from .. to - 1. Those that are not at the top are whole subtrees, which fit the cache: nobody else writes
  // to their rows, so these are filled when their turn comes.
  struct Block {
    std::int32_t from, to;
    bool top;
  };

  Stored<std::int32_t> edge;               // of each arc, up and down; m for none
  Stored<std::int32_t> targets;            // in the order in which nodes read them
  std::vector<std::int64_t> first_target;  // of each node
  std::vector<Block> blocks;

  // False if arcs are missing in the skeleton: it is damaged, or that of another graph.
  bool prepare(const Csr& graph, const Skeleton& skeleton) {
    if (!place_edges(graph, skeleton) || !place_targets(skeleton)) return false;
    cut_blocks(skeleton);
    return true;
  }

  // The same if edges and targets come from a file: edges exist, and targets are what prepare() makes.
  bool open(const Csr& graph, const Skeleton& skeleton) {
    if (edge.size() != 2 * static_cast<std::size_t>(skeleton.arcs())) return false;
    bool good = true;
    for (const std::int32_t e : edge) good &= static_cast<std::uint32_t>(e) <= static_cast<std::uint32_t>(graph.m);
    if (!good || !check_targets(skeleton)) return false;
    cut_blocks(skeleton);
    return true;
  }

 private:
  bool place_edges(const Csr& graph, const Skeleton& skeleton) {
    std::vector<std::int32_t> found(2 * static_cast<std::size_t>(skeleton.arcs()), graph.m);
    for (std::int32_t tail = 0; tail < graph.n; ++tail) {  // by ranks: what belongs together is close in memory
      const std::int32_t v = skeleton.vertex[tail];
      for (std::int32_t e = graph.first_out[v]; e < graph.first_out[v + 1]; ++e) {
        const std::int32_t head = skeleton.rank[graph.head[e]];
        const std::int32_t arc = skeleton.arc(std::min(tail, head), std::max(tail, head));
        if (arc < 0) return false;
        found[2 * static_cast<std::size_t>(arc) + (tail > head)] = e;
      }
    }
    edge = std::move(found);
    return true;
  }

  bool place_targets(const Skeleton& skeleton) {
    std::vector<std::int32_t> found;
    found.reserve(2 * skeleton.list.size());
    first_target.reserve(static_cast<std::size_t>(skeleton.nodes()));
    for (std::int32_t s = 0; s < skeleton.nodes(); ++s) {
      const std::int32_t* const list = skeleton.list_of(s);
      const std::int32_t h = skeleton.list_size(s);
      first_target.push_back(static_cast<std::int64_t>(found.size()));
      std::int32_t end = 0;  // of the ranks of the list that belong to the same node as list[i]
      for (std::int32_t i = 0; i + 1 < h; ++i) {
        const std::int32_t above = skeleton.node[list[i]], size = skeleton.list_size(above);
        const bool is_short = h <= short_list;
        if (!is_short) {
          if (i < end) continue;
          end = i + 1;
          while (end < h && list[end] < skeleton.begin[above + 1]) ++end;
          found.push_back(end);
          found.push_back(size);
        }
        // Both lists are sorted.
        const std::int32_t base = is_short ? skeleton.first[list[i] + 1] - size : 0, last = skeleton.begin[above + 1];
        const std::int32_t *const begin = skeleton.list_of(above), *const stop = begin + size, *at = begin;
        for (std::int32_t j = i + 1; j < h; ++j) {
          if (list[j] < last) {
            found.push_back(base + list[j] - last);
            continue;
          }
          while (at < stop && *at < list[j]) ++at;
          if (at == stop || *at != list[j]) return false;
          found.push_back(base + static_cast<std::int32_t>(at - begin));
        }
      }
    }
    targets = std::move(found);
    return true;
  }

  bool check_targets(const Skeleton& skeleton) {
    const std::int32_t *next = targets.data(), *const stop = next + targets.size();
    first_target.reserve(static_cast<std::size_t>(skeleton.nodes()));
    for (std::int32_t s = 0; s < skeleton.nodes(); ++s) {
      const std::int32_t* const list = skeleton.list_of(s);
      const std::int32_t h = skeleton.list_size(s);
      first_target.push_back(next - targets.data());
      std::int32_t end = 0;
      for (std::int32_t i = 0; i + 1 < h; ++i) {
        const std::int32_t above = skeleton.node[list[i]], size = skeleton.list_size(above);
        std::int32_t base = skeleton.first[list[i] + 1] - size;
        if (h > short_list) {
          if (i < end) continue;
          if (stop - next < 2) return false;
          end = i + 1;
          while (end < h && list[end] < skeleton.begin[above + 1]) ++end;
          if (*next++ != end || *next++ != size) return false;
          base = 0;
        }
        if (stop - next < h - i - 1) return false;
        const std::int32_t last = skeleton.begin[above + 1];
        const std::int32_t* const others = skeleton.list_of(above);
        bool good = true;
        for (std::int32_t j = i + 1; j < h; ++j, ++next) {
          const auto place = static_cast<std::int64_t>(*next) - base;
          if (list[j] < last) good &= place == list[j] - last;
          else good &= 0 <= place && place < size && others[place] == list[j];
        }
        if (!good) return false;
      }
    }
    return next == stop;
  }

  void cut_blocks(const Skeleton& skeleton) {
    const std::int32_t nodes = skeleton.nodes();
    std::vector<std::int64_t> below(static_cast<std::size_t>(nodes));  // arcs of the subtree
    const std::vector<std::int32_t> start = first_nodes(skeleton);
    for (std::int32_t s = 0; s < nodes; ++s) {
      below[s] += skeleton.first[skeleton.begin[s + 1]] - skeleton.first[skeleton.begin[s]];
      if (const std::int32_t p = skeleton.parent(s); p >= 0) below[skeleton.node[p]] += below[s];
    }
    // The subtrees that fit and whose parents do not; each is whole in one block.
    const auto is_top = [&](std::int32_t s) { return below[s] > block_arcs; };
    std::vector<bool> starts(static_cast<std::size_t>(nodes));
    for (std::int32_t s = 0; s < nodes; ++s)
      if (const std::int32_t p = skeleton.parent(s); !is_top(s) && (p < 0 || is_top(skeleton.node[p])))
        starts[start[s]] = true;
    std::int64_t size = 0;
    for (std::int32_t s = 0; s < nodes; ++s) {
      const bool top = is_top(s);
      if (blocks.empty() || top != blocks.back().top || (starts[s] && size > block_arcs / 2)) {
        blocks.push_back({s, s, top});
        size = 0;
      }
      size += skeleton.first[skeleton.begin[s + 1]] - skeleton.first[skeleton.begin[s]];
      blocks.back().to = s + 1;
    }
  }
};

// The nodes at the top of the tree whose dense products together take about a tenth of the time of customizing: few
// ranks with long rows, in which most changes of weights end. Updates may do all of them again, if it was kept what
// the ranks below offer to their arcs.
struct Top {
  static constexpr std::int64_t pairs_per_arc = 20;  // that take the time that customizing spends on an arc
  static constexpr std::int64_t share = 10;

  std::vector<std::int32_t> nodes;  // in increasing order
  std::vector<std::int32_t> shift;  // of each node: from the number of an arc to its place in the top; -1 below it
  std::int64_t arcs = 0, pairs = 0;

  bool has(std::int32_t node) const { return shift[node] >= 0; }

  // From the parts of a skeleton; node is that of each rank.
  void choose(std::span<const std::int32_t> begin, std::span<const std::int32_t> list_first,
              std::span<const std::int32_t> list, std::span<const std::int32_t> node, std::int32_t most_small) {
    struct Size {
      std::int64_t arcs, pairs, below;  // below: arcs of the subtree
    };
    std::vector<Size> size(begin.size() - 1);
    std::vector<std::int32_t> order(size.size());
    std::int64_t budget = 0;
    for (std::int32_t s = 0; s < static_cast<std::int32_t>(size.size()); ++s) {
      const std::int64_t k = begin[s + 1] - begin[s], h = list_first[s + 1] - list_first[s];
      size[s].arcs = k * h + k * (k - 1) / 2;
      for (std::int64_t row = h; row < h + k; ++row) size[s].pairs += row * (row - 1) / 2;
      size[s].below += size[s].arcs;
      if (h > 0) size[node[list[list_first[s]]]].below += size[s].below;
      budget += size[s].pairs + pairs_per_arc * size[s].arcs;
      order[s] = s;
    }
    budget /= share;
    // Largest first: a node after all that are above it.
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return size[a].below > size[b].below; });
    for (const std::int32_t s : order) {
      const std::int32_t row = begin[s + 1] - begin[s] - 1 + list_first[s + 1] - list_first[s];
      if (pairs + size[s].pairs > budget || row <= most_small) break;
      pairs += size[s].pairs;
      nodes.push_back(s);
    }
    std::sort(nodes.begin(), nodes.end());
    shift.assign(size.size(), -1);
    std::int64_t first = 0;
    std::int32_t s = 0;
    for (const std::int32_t at : nodes) {
      for (; s < at; ++s) first += size[s].arcs;
      shift[at] = static_cast<std::int32_t>(first - arcs);
      arcs += size[at].arcs;
    }
  }
};

}  // namespace rhostar
