// The arcs of a hierarchy, which depend on the graph and the order of its vertices, and serve every row of weights.
//
// Contracting a vertex joins all its remaining neighbors. The arcs of a rank are those to the ranks above it that it is
// joined to when it is contracted; the lowest of these is its parent in the elimination tree, and all are its
// ancestors. Ranks are in postorder: the descendants of a rank come right before it.
//
// A chain of ranks in which each has the next one as its parent, and the same arcs beyond the chain, is a node (in
// sparse factorization, a supernode). A node has one list of the ranks above it. The arcs of its rank r lead first to
// the rest of the node, r + 1 .. end - 1, and then to the ranks of the list. So the arcs of a rank are a dense row, and
// the rows of a node are aligned at their ends:
//
//   r = begin      [ begin+1  begin+2  list[0]  list[1]  list[2] ]
//   r = begin + 1           [ begin+2  list[0]  list[1]  list[2] ]
//   r = begin + 2                    [ list[0]  list[1]  list[2] ]      end = begin + 3
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "engine/csr.hpp"
#include "engine/interrupt.hpp"
#include "engine/status.hpp"
#include "hierarchy/dissection.hpp"

namespace rhostar {

// What a file keeps; everything else follows from it.
struct SkeletonParts {
  Ending
      ending;  // limit: more than `most` arcs, or `most_pairs` pairs of arcs, would be needed; at: how many arcs so far
  std::vector<std::int32_t> vertex;      // of each rank
  std::vector<std::int32_t> begin;       // the first rank of each node, and n
  std::vector<std::int32_t> list_first;  // where the list of each node begins, and the end
  std::vector<std::int32_t> list;        // ranks in increasing order
  std::int64_t bytes = 0;                // that the hierarchy and one set of costs will take
};

namespace skeleton {

// The elimination tree (Liu): a rank's parent is the first rank above it that it gets joined to.
inline std::vector<std::int32_t> parents(const Neighbors& near, const std::vector<std::int32_t>& order,
                                         const std::vector<std::int32_t>& rank) {
  std::vector<std::int32_t> parent(order.size(), -1), shortcut(order.size(), -1);
  for (std::int32_t r = 0; r < near.size(); ++r)
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
  return parent;
}

// Calls visit(below) for each rank that has an arc to r: those on the tree's paths from r's lower neighbors up to it.
template <class Visit>
void each_below(const Neighbors& near, const std::vector<std::int32_t>& order, const std::vector<std::int32_t>& rank,
                const std::vector<std::int32_t>& parent, std::int32_t r, std::vector<std::int32_t>& mark,
                Visit&& visit) {
  mark[r] = r;
  for (std::int64_t a = near.first[order[r]]; a < near.first[order[r] + 1]; ++a)
    for (std::int32_t below = rank[near.list[a]]; below < r && mark[below] != r; below = parent[below]) {
      mark[below] = r;
      visit(below);
    }
}

// Postorder of the tree. Of the children, the one with the longest row comes last, next to its parent: the two may
// belong to one node.
inline std::vector<std::int32_t> postorder(const std::vector<std::int32_t>& parent,
                                           const std::vector<std::int32_t>& count) {
  const auto n = static_cast<std::int32_t>(parent.size());
  std::vector<std::int32_t> favorite(parent.size(), -1), next(parent.size(), -1), child(parent.size(), -1);
  for (std::int32_t r = 0; r < n; ++r)
    if (const std::int32_t p = parent[r]; p >= 0 && (favorite[p] < 0 || count[r] >= count[favorite[p]]))
      favorite[p] = r;
  std::int32_t root = -1;
  for (std::int32_t r = 0; r < n; ++r) {  // lists of children with the greatest first, the favorite before all
    if (parent[r] >= 0 && favorite[parent[r]] == r) continue;
    std::int32_t& head = parent[r] < 0 ? root : child[parent[r]];
    next[r] = head;
    head = r;
  }
  for (std::int32_t p = 0; p < n; ++p)
    if (favorite[p] >= 0) {
      next[favorite[p]] = child[p];
      child[p] = favorite[p];
    }
  // A preorder in which the children come greatest first, from the back.
  std::vector<std::int32_t> found(parent.size()), stack;
  std::int32_t place = n;
  for (std::int32_t r = root; r >= 0; r = next[r]) {
    stack.push_back(r);
    while (!stack.empty()) {
      const std::int32_t top = stack.back();
      stack.pop_back();
      found[--place] = top;
      // The favorite must be popped first, so it is pushed last.
      const auto from = static_cast<std::ptrdiff_t>(stack.size());
      for (std::int32_t c = child[top]; c >= 0; c = next[c]) stack.push_back(c);
      std::reverse(stack.begin() + from, stack.end());
    }
  }
  return found;
}

}  // namespace skeleton

// Counts first, and stops where there are too many arcs, or pairs of arcs of one rank: these are the memory and the
// work of customizing.
inline SkeletonParts make_skeleton(const Neighbors& near, std::vector<std::int32_t> order, std::int64_t most,
                                   Interrupt& interrupt,
                                   std::int64_t most_pairs = std::numeric_limits<std::int64_t>::max()) {
  SkeletonParts out;
  const std::int32_t n = near.size();
  const auto size = static_cast<std::size_t>(n);
  std::vector<std::int32_t> rank(size), mark(size, -1), count(size, 0);
  const auto set_ranks = [&] {
    for (std::int32_t r = 0; r < n; ++r) rank[order[r]] = r;
  };
  set_ranks();
  std::vector<std::int32_t> parent = skeleton::parents(near, order, rank);
  std::int64_t total = 0, pairs = 0;
  for (std::int32_t r = 0; r < n; ++r) {
    skeleton::each_below(near, order, rank, parent, r, mark, [&](std::int32_t below) {
      pairs += count[below]++;
      ++total;
    });
    if ((r & 0xFFF) == 0 && interrupt.requested()) return out.ending.status = Status::stopped, out;
    if (total > most || pairs > most_pairs) return out.ending = {Status::limit, total}, out;
  }
  // The same tree with other numbers.
  const std::vector<std::int32_t> moved = skeleton::postorder(parent, count);
  std::vector<std::int32_t> place(size), counts(size), tree(size), vertex(size);
  for (std::int32_t r = 0; r < n; ++r) place[moved[r]] = r;
  for (std::int32_t r = 0; r < n; ++r) {
    counts[r] = count[moved[r]];
    tree[r] = parent[moved[r]] < 0 ? -1 : place[parent[moved[r]]];
    vertex[r] = order[moved[r]];
  }
  order = std::move(vertex);
  set_ranks();

  const auto joins_next = [&](std::int32_t r) { return tree[r] == r + 1 && counts[r] == counts[r + 1] + 1; };
  std::vector<std::int32_t> list_of(size, -1);  // where the list of a node goes on, at the last rank of the node
  std::int32_t length = 0;
  for (std::int32_t r = 0; r < n; ++r) {
    if (r == 0 || !joins_next(r - 1)) {
      out.begin.push_back(r);
      out.list_first.push_back(length);
    }
    if (joins_next(r)) continue;
    list_of[r] = length;
    length += counts[r];
  }
  out.begin.push_back(n);
  out.list_first.push_back(length);
  out.list.resize(static_cast<std::size_t>(length));
  std::fill(mark.begin(), mark.end(), -1);
  for (std::int32_t r = 0; r < n; ++r) {
    skeleton::each_below(near, order, rank, tree, r, mark, [&](std::int32_t below) {
      if (list_of[below] >= 0) out.list[list_of[below]++] = r;
    });
    if ((r & 0xFFF) == 0 && interrupt.requested()) return out.ending.status = Status::stopped, out;
  }
  out.vertex = std::move(order);
  return out;
}

// The skeleton as all other code reads it. It does not own the parts.
class Skeleton {
 public:
  std::span<const std::int32_t> vertex, begin, list_first, list;
  std::vector<std::int32_t> rank;   // of each of the user's vertices
  std::vector<std::int32_t> node;   // of each rank
  std::vector<std::int32_t> first;  // where the row of each rank begins, and the end

  std::int32_t size() const { return static_cast<std::int32_t>(vertex.size()); }
  std::int32_t nodes() const { return static_cast<std::int32_t>(begin.size()) - 1; }
  std::int64_t arcs() const { return first.back(); }
  std::int32_t list_size(std::int32_t s) const { return list_first[s + 1] - list_first[s]; }
  const std::int32_t* list_of(std::int32_t s) const { return list.data() + list_first[s]; }
  // The first rank above a node; -1 for a root.
  std::int32_t parent(std::int32_t s) const { return list_size(s) ? list_of(s)[0] : -1; }
  // The rank after r on the way to the root; -1 at its end.
  std::int32_t next(std::int32_t r) const {
    const std::int32_t s = node[r];
    return r + 1 < begin[s + 1] ? r + 1 : parent(s);
  }

  // Where the rank z is in the row of y, counted from the part of the row that belongs to the list of y's node, so that
  // it is the same for all y of the node; negative for a z in the node itself. None: `absent`.
  static constexpr std::int32_t absent = std::numeric_limits<std::int32_t>::min();
  std::int32_t place_in(std::int32_t s, std::int32_t z) const {
    if (z < begin[s + 1]) return z - begin[s + 1];
    const std::int32_t* const from = list_of(s);
    const std::int32_t size = list_size(s);
    std::int32_t at = 0;
    if (size <= 16) {  // counting takes no decisions that could be guessed wrong
      for (std::int32_t i = 0; i < size; ++i) at += from[i] < z;
    } else {
      at = static_cast<std::int32_t>(std::lower_bound(from, from + size, z) - from);
    }
    return at < size && from[at] == z ? at : absent;
  }
  // Where the part of y's row that belongs to the list begins.
  std::int32_t tail(std::int32_t y) const { return first[y + 1] - list_size(node[y]); }
  // The arc between two ranks, low < high; -1 if there is none.
  std::int32_t arc(std::int32_t low, std::int32_t high) const {
    const std::int32_t at = place_in(node[low], high);
    return at == absent ? -1 : tail(low) + at;
  }
  // The ranks that an arc joins.
  std::int32_t low_end(std::int32_t arc) const {
    return static_cast<std::int32_t>(std::upper_bound(first.begin(), first.end(), arc) - first.begin()) - 1;
  }
  std::int32_t high_end(std::int32_t low, std::int32_t arc) const {
    const std::int32_t s = node[low], at = arc - first[low], chain = begin[s + 1] - low - 1;
    return at < chain ? low + 1 + at : list_of(s)[at - chain];
  }

  // Reads the parts, which may come from a file; false if they are not a skeleton of a graph of n vertices.
  bool open(std::int32_t n) {
    if (vertex.size() != static_cast<std::size_t>(n) || begin.empty() || list_first.size() != begin.size() ||
        begin.front() != 0 || begin.back() != n || list_first.front() != 0 ||
        list_first.back() != static_cast<std::int32_t>(list.size()))
      return false;
    rank.assign(vertex.size(), -1);
    for (std::int32_t r = 0; r < n; ++r) {
      if (vertex[r] < 0 || vertex[r] >= n || rank[vertex[r]] >= 0) return false;
      rank[vertex[r]] = r;
    }
    node.resize(vertex.size());
    first.assign(vertex.size() + 1, 0);
    std::int64_t arcs = 0;
    for (std::int32_t s = 0; s < nodes(); ++s) {
      if (begin[s] >= begin[s + 1] || list_first[s] > list_first[s + 1] ||
          list_first[s + 1] > static_cast<std::int32_t>(list.size()))
        return false;
      std::int32_t last = begin[s + 1] - 1;
      for (std::int32_t i = list_first[s]; i < list_first[s + 1]; ++i) {
        if (list[i] <= last || list[i] >= n) return false;
        last = list[i];
      }
      for (std::int32_t r = begin[s]; r < begin[s + 1]; ++r) {
        node[r] = s;
        arcs += begin[s + 1] - 1 - r + list_size(s);
        if (arcs > std::numeric_limits<std::int32_t>::max()) return false;
        first[r + 1] = static_cast<std::int32_t>(arcs);
      }
    }
    return true;
  }
};

// The first node of the subtree of each node: in postorder, all nodes from there on belong to it.
inline std::vector<std::int32_t> first_nodes(const Skeleton& skeleton) {
  std::vector<std::int32_t> first(static_cast<std::size_t>(skeleton.nodes()));
  std::iota(first.begin(), first.end(), 0);
  for (std::int32_t s = 0; s < skeleton.nodes(); ++s)
    if (const std::int32_t p = skeleton.parent(s); p >= 0) {
      std::int32_t& least = first[skeleton.node[p]];
      least = std::min(least, first[s]);
    }
  return first;
}

}  // namespace rhostar
