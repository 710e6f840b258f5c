// Lengths after the weights of a few edges have changed: the same as those of customizing in full, bit for bit.
//
// Only ranks with arcs that may change are looked at, in increasing order, so that all below a rank is final when its
// turn comes. If an arc of x changes, so does what x offers, over each pair of its arcs, to the arc between their ends:
//
// - The offer is now below the length of that arc: the arc falls to it at once.
// - The offer was equal to the length, and has risen: the arc has lost one of its minima. When its turn comes, and it
//   has not fallen otherwise, it is computed again from its edge and all that is offered to it.
// - Everything else leaves the arc as it is, and the change ends there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/csr.hpp"
#include "engine/status.hpp"
#include "hierarchy/customize.hpp"
#include "hierarchy/query.hpp"

namespace rhostar {

// New weights of some edges; of an edge that is there twice, the last one counts.
struct EdgeWeights {
  const std::int32_t* edge;
  const double* weight;
  std::int64_t count;
};

inline bool is_large(const Csr& graph, const EdgeWeights& fresh) {
  return std::any_of(fresh.weight, fresh.weight + fresh.count,
                     [most = most_harmless(graph)](double w) { return w > most && w < no_way; });
}

// The checks of take_weights. The offender is a position in `fresh` for bad_input (not an edge) and bad_weight, and an
// edge for overflow.
inline Ending check_update(const Csr& graph, const Costs& costs, const EdgeWeights& fresh) {
  bool some = graph.m == 0;
  for (std::int64_t i = 0; i < fresh.count; ++i) {
    if (fresh.edge[i] < 0 || fresh.edge[i] >= graph.m) return {.status = Status::bad_input, .offender = i};
    if (is_bad(fresh.weight[i])) return {.status = Status::bad_weight, .offender = i};
    some |= fresh.weight[i] < no_way;
  }
  const double* const weight = costs.weight.data();
  if (costs.large || is_large(graph, fresh)) {
    std::vector<double> after(weight, weight + graph.m);
    for (std::int64_t i = 0; i < fresh.count; ++i) after[fresh.edge[i]] = fresh.weight[i];
    if (std::none_of(after.begin(), after.end(), [](double w) { return w < no_way; }))
      return {.status = Status::no_path};
    return check_sum(after.data(), graph.m);
  }
  if (some) return {};
  // Only closures: is there a finite weight among the others? Usually the first edges have one.
  std::vector<std::int32_t> closed(fresh.edge, fresh.edge + fresh.count);
  std::sort(closed.begin(), closed.end());
  for (std::int32_t e = 0; e < graph.m; ++e)
    if (weight[e] < no_way && !std::binary_search(closed.begin(), closed.end(), e)) return {};
  return {.status = Status::no_path};
}

// What one update at a time uses.
struct Changes {
  enum : std::uint8_t { up_lost = 1, down_lost = 2, has_entry = 4 };
  struct Entry {
    Pair before;
    std::int32_t arc, next;  // of the same rank
  };
  std::vector<std::uint8_t> state;                     // of each arc; all 0 between updates
  std::vector<std::int32_t> first;                     // entry of each rank; all -1 between updates
  std::vector<std::int32_t> queue;                     // ranks with entries, as a heap
  std::vector<Entry> entries;                          // every arc that the last update looked at
  std::vector<std::pair<std::int32_t, double>> edges;  // and every edge, with its old weight

  explicit Changes(const Skeleton& skeleton)
      : state(static_cast<std::size_t>(skeleton.arcs())), first(skeleton.vertex.size(), -1) {}
};

class Update {
 public:
  Update(const Topology& topology, Costs& costs, Changes& changes)
      : topology_(topology), skeleton_(topology.skeleton), weight_(costs.weight.data()), length_(costs.length.data()),
        changes_(changes) {}

  //! Follows new weights, which have been checked. False if that takes more work than `most`, in pairs of arcs; then
  //! weights and lengths are the old ones.
  bool run(const EdgeWeights& fresh, std::int64_t most) {
    changes_.entries.clear();
    changes_.edges.clear();
    for (std::int64_t i = 0; i < fresh.count; ++i) {
      const std::int32_t e = fresh.edge[i];
      changes_.edges.emplace_back(e, weight_[e]);
      weight_[e] = fresh.weight[i] + 0.0;  // no -0.0
    }
    for (const auto& [e, before] : changes_.edges)
      if (before != weight_[e]) begin_at(e, before);
    while (!changes_.queue.empty()) {
      if (work_ > most) return undo(), false;
      std::pop_heap(changes_.queue.begin(), changes_.queue.end(), std::greater<>());
      const std::int32_t x = changes_.queue.back();
      changes_.queue.pop_back();
      settle(x);
    }
    return true;
  }

 private:
  void begin_at(std::int32_t e, double before) {
    const Csr& graph = topology_.graph;
    const auto v = static_cast<std::int32_t>(std::upper_bound(graph.first_out, graph.first_out + graph.n + 1, e) -
                                             graph.first_out) -
                   1;
    const std::int32_t tail = skeleton_.rank[v], head = skeleton_.rank[graph.head[e]], low = std::min(tail, head);
    Pair was = no_ways, now = no_ways;
    was[tail > head] = before;
    now[tail > head] = weight_[e];
    follow(low, skeleton_.arc(low, std::max(tail, head)), was, now);
  }

  // An offer to an arc of rank y has changed.
  [[gnu::always_inline]] void follow(std::int32_t y, std::int32_t arc, Pair was, Pair now) {
    const Pair length = length_[arc];
    const auto falls = now < length, lost = (was == length) & (was < now);
    const auto either = falls | lost;
    if (either[0] | either[1]) [[unlikely]] {
      std::uint8_t& state = changes_.state[arc];
      if (!(state & Changes::has_entry)) add_entry(y, arc, length);
      state |= static_cast<std::uint8_t>(Changes::has_entry | (lost[0] ? Changes::up_lost : 0) |
                                         (lost[1] ? Changes::down_lost : 0));
      length_[arc] = least(now, length);
    }
  }

  [[gnu::noinline]] void add_entry(std::int32_t y, std::int32_t arc, Pair before) {
    std::int32_t& first = changes_.first[y];
    if (first < 0) {
      changes_.queue.push_back(y);
      std::push_heap(changes_.queue.begin(), changes_.queue.end(), std::greater<>());
    }
    changes_.entries.push_back({before, arc, first});
    first = static_cast<std::int32_t>(changes_.entries.size()) - 1;
  }

  void settle(std::int32_t x) {
    const std::int32_t begin = skeleton_.first[x], size = skeleton_.first[x + 1] - begin;
    Pair* const row = length_ + begin;
    changed_.clear();
    for (std::int32_t i = std::exchange(changes_.first[x], -1); i >= 0; i = changes_.entries[i].next) {
      const auto& [before, arc, next] = changes_.entries[i];
      const std::uint8_t state = std::exchange(changes_.state[arc], 0);
      const bool up = (state & Changes::up_lost) && length_[arc][0] == before[0];
      const bool down = (state & Changes::down_lost) && length_[arc][1] == before[1];
      if (up || down) compute(arc, up, down);
      const auto differs = length_[arc] != before;
      if (differs[0] | differs[1]) changed_.push_back(i);
    }
    if (changed_.empty()) return;
    if (before_.size() < static_cast<std::size_t>(size)) before_.resize(static_cast<std::size_t>(size));
    std::copy(row, row + size, before_.begin());
    for (const std::int32_t i : changed_) before_[changes_.entries[i].arc - begin] = changes_.entries[i].before;
    for (const std::int32_t i : changed_) offer_all(x, row, changes_.entries[i].arc - begin);
    work_ += static_cast<std::int64_t>(changed_.size()) * size;
  }

  // Computes lengths that have lost a minimum and are not below what they were.
  [[gnu::noinline]] void compute(std::int32_t arc, bool up, bool down) {
    const Pair before = length_[arc];
    const std::int32_t* const edge = topology_.plan.edge.data() + 2 * static_cast<std::size_t>(arc);
    Pair best{up ? weight_[edge[0]] : before[0], down ? weight_[edge[1]] : before[1]};
    any_below(topology_, arc, [&](std::int32_t to_low, std::int32_t to_high) {
      const Pair offered = swapped(length_[to_low]) + length_[to_high];
      best = least(offered, best);
      ++work_;
      return best[0] <= before[0] && best[1] <= before[1];  // another one was equal
    });
    length_[arc] = best;
  }

  // The arc at this place of x's row has changed, and offers with all the others.
  void offer_all(std::int32_t x, const Pair* row, std::int32_t at) {
    const std::int32_t s = skeleton_.node[x], end = skeleton_.begin[s + 1], chain = end - x - 1;
    const Pair* const before = before_.data();
    const auto follow_pair = [&](std::int32_t y, std::int32_t arc, std::int32_t low, std::int32_t high) {
      follow(y, arc, swapped(before[low]) + before[high], swapped(row[low]) + row[high]);
    };
    // The lower end in the node: rows are aligned.
    for (std::int32_t i = 0; i < std::min(at, chain); ++i)
      follow_pair(x + 1 + i, skeleton_.first[x + 1 + i] + (at - i - 1), i, at);
    const std::int32_t h = skeleton_.list_size(s);
    if (at < chain) {
      const std::int32_t y = x + 1 + at, to = skeleton_.first[y] - (at + 1);
      for (std::int32_t j = at + 1; j < chain + h; ++j) follow_pair(y, to + j, at, j);
      return;
    }
    const std::int32_t* const list = skeleton_.list_of(s);
    const std::int32_t* target = topology_.plan.targets.data() + topology_.plan.first_target[s];
    const std::int32_t place = at - chain;
    if (h <= Plan::short_list) {
      // The arcs of pairs (0, 1), (0, 2), ..., (1, 2), ...
      for (std::int32_t i = 0; i < place; target += h - 1 - i, ++i)
        follow_pair(list[i], target[place - i - 1], chain + i, at);
      for (std::int32_t j = place + 1; j < h; ++j) follow_pair(list[place], target[j - place - 1], at, chain + j);
      return;
    }
    for (std::int32_t i = 0; i + 1 < h;) {
      const std::int32_t stop = target[0], size = target[1];
      const std::int32_t* const places = target + 2 - (i + 1);  // places[j] is that of list[j]
      target += 2 + h - (i + 1);
      for (; i < std::min(stop, place); ++i)
        follow_pair(list[i], skeleton_.first[list[i] + 1] - size + places[place], chain + i, at);
      if (place < stop) {
        const std::int32_t to = skeleton_.first[list[place] + 1] - size;
        for (std::int32_t j = place + 1; j < h; ++j) follow_pair(list[place], to + places[j], at, chain + j);
        return;
      }
    }
  }

  [[gnu::noinline]] void undo() {
    for (const std::int32_t x : changes_.queue) changes_.first[x] = -1;
    changes_.queue.clear();
    for (const Changes::Entry& entry : changes_.entries) {
      changes_.state[entry.arc] = 0;
      length_[entry.arc] = entry.before;
    }
    for (auto edge = changes_.edges.rbegin(); edge != changes_.edges.rend(); ++edge)
      weight_[edge->first] = edge->second;
  }

  const Topology& topology_;
  const Skeleton& skeleton_;
  double* weight_;
  Pair* length_;
  Changes& changes_;
  std::vector<std::int32_t> changed_;  // entries of one rank
  std::vector<Pair> before_;           // its row before
  std::int64_t work_ = 0;
};

}  // namespace rhostar
