// Lengths after the weights of a few edges have changed: the same as those of customizing in full, bit for bit.
//
// Only ranks with arcs that may change are looked at, in increasing order, so that all below a rank is final when its
// turn comes. If an arc of x changes, so does what x offers, over each pair of its arcs, to the arc between their ends:
//
// - The offer is now below the length of that arc: the arc falls to it at once.
// - The offer was equal to the length, and has risen: the arc has lost one of its minima. When its turn comes, and it
//   has not fallen otherwise, it is computed again from its edge and all that is offered to it.
// - Everything else leaves the arc as it is, and the change ends there.
//
// Most of that work is at the top of the tree, where rows are long and other ranks change, too. So it is done in two
// steps. The first follows the changes up to the top, whose arcs have a length of their own for what comes from below.
// For the second there are two ways: to go on like this, or, where much has changed, to do the dense products of the
// top again.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "engine/csr.hpp"
#include "engine/status.hpp"
#include "hierarchy/customize.hpp"
#include "hierarchy/query.hpp"

namespace rhostar {

// New weights of some edges; if an edge occurs twice, the last one counts.
struct EdgeWeights {
  const std::int64_t* edge;
  const double* weight;
  std::int64_t count;
};

inline bool is_large(const Csr& graph, const EdgeWeights& fresh) {
  return std::any_of(fresh.weight, fresh.weight + fresh.count,
                     [most = most_harmless(graph)](double w) { return w > most && w < no_way; });
}

// Whole: all must be integers below 2**53, or +inf.
inline bool is_bad(double weight, bool whole) {
  return !(weight >= 0.0) || (whole && weight < no_way && (weight >= 0x1p53 || weight != std::floor(weight)));
}

// The checks of take_weights. The offender is a position in `fresh` for bad_input (not an edge) and bad_weight, and an
// edge for overflow.
inline Ending check_update(const Csr& graph, const Costs& costs, const EdgeWeights& fresh, bool whole) {
  bool some = graph.m == 0;
  for (std::int64_t i = 0; i < fresh.count; ++i) {
    if (fresh.edge[i] < 0 || fresh.edge[i] >= graph.m) return {.status = Status::bad_input, .offender = i};
    if (is_bad(fresh.weight[i], whole)) return {.status = Status::bad_weight, .offender = i};
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
  std::vector<std::int64_t> closed(fresh.edge, fresh.edge + fresh.count);
  std::sort(closed.begin(), closed.end());
  for (std::int64_t e = 0; e < graph.m; ++e)
    if (weight[e] < no_way && !std::binary_search(closed.begin(), closed.end(), e)) return {};
  return {.status = Status::no_path};
}

// A set of numbers below n that gives back the lowest: bits, and for every 64 of them a bit that says whether one is
// set.
class LowestFirst {
 public:
  explicit LowestFirst(std::size_t n) {
    do levels_.emplace_back(n = n / 64 + 1);
    while (n > 1);
  }
  bool empty() const { return levels_.back()[0] == 0; }
  void insert(std::int32_t number) {
    auto at = static_cast<std::size_t>(number);
    for (auto& level : levels_) {
      std::uint64_t& word = level[at / 64];
      const bool known = word != 0;
      word |= std::uint64_t{1} << (at % 64);
      if (known) return;
      at /= 64;
    }
  }
  std::int32_t take_lowest() {
    std::size_t at = 0;
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
      at = 64 * at + static_cast<std::size_t>(std::countr_zero((*level)[at]));
    const auto lowest = static_cast<std::int32_t>(at);
    for (auto& level : levels_) {
      if (level[at / 64] &= level[at / 64] - 1) break;
      at /= 64;
    }
    return lowest;
  }

 private:
  std::vector<std::vector<std::uint64_t>> levels_;
};

// What one update at a time uses.
struct Changes {
  enum : std::uint8_t { up_lost = 1, down_lost = 2, has_entry = 4 };
  struct Entry {
    Pair before;
    std::int32_t arc, next;  // of the same rank
  };
  std::vector<std::uint8_t> state;                     // of each arc; all 0 between updates
  std::vector<std::int32_t> first;                     // entry of each rank; all -1 between updates
  LowestFirst queue;                                   // ranks with entries
  std::vector<Entry> entries;                          // every arc below the top that the last update looked at
  std::vector<Entry> bases;                            // arcs of the top whose base may change; next: the rank
  std::vector<std::pair<std::int32_t, double>> edges;  // and every edge, with its old weight

  explicit Changes(const Skeleton& skeleton)
      : state(static_cast<std::size_t>(skeleton.arcs())), first(skeleton.vertex.size(), -1),
        queue(skeleton.vertex.size()) {}
};

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr Pair no_numbers{no_number, no_number};
constexpr Pair largest{std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};

// Whether a comparison holds for one of the two.
[[gnu::always_inline]] inline bool any(decltype(no_ways < no_ways) holds) { return (holds[0] | holds[1]) != 0; }

// Whether one of the two offers is finite and not above the length.
[[gnu::always_inline]] inline bool reaches(Pair offered, Pair length) {
#ifdef __SSE2__
  return __builtin_ia32_movmskpd(__builtin_ia32_cmplepd(offered, __builtin_ia32_minpd(length, largest))) != 0;
#else
  return any(offered <= least(length, largest));
#endif
}

// The work of an update, in pairs of arcs, that takes about the time of customizing in full. That does a pair faster,
// and spends time on each arc. (Measured on cities and grids.)
inline std::int64_t most_update_work(const Topology& topology) { return topology.pairs / 8 + topology.skeleton.arcs(); }

// Pairs that a dense product does in the time in which an update looks at one.
constexpr std::int64_t pairs_in_product = 12;

class Update {
 public:
  Update(const Topology& topology, Costs& costs, Changes& changes)
      : topology_(topology), skeleton_(topology.skeleton), weight_(costs.weight.data()), length_(costs.length.data()),
        base_(costs.base.data()), costs_(costs), changes_(changes) {}

  //! Follows new weights, which have been checked. False if that takes more work than `most`, in pairs of arcs; then
  //! weights and lengths are the old ones, as they are if memory runs out.
  bool run(const EdgeWeights& fresh, std::int64_t most) {
    try {
      return follow_all(fresh, most);
    } catch (...) {
      undo();
      throw;
    }
  }
  //! Whether something at the top may have changed.
  bool top_differs() const { return at_top_; }

 private:
  bool follow_all(const EdgeWeights& fresh, std::int64_t most) {
    assert(changes_.queue.empty());
    changes_.entries.clear();
    changes_.bases.clear();
    changes_.edges.clear();
    for (std::int64_t i = 0; i < fresh.count; ++i) {
      const auto e = static_cast<std::int32_t>(fresh.edge[i]);
      changes_.edges.emplace_back(e, weight_[e]);
      weight_[e] = fresh.weight[i] + 0.0;  // no -0.0
    }
    for (const auto& [e, before] : changes_.edges)
      if (before != weight_[e]) begin_at(e, before);
    while (!changes_.queue.empty()) {
      if (work_ > most) return undo(), false;
      settle(changes_.queue.take_lowest());
    }
    finish_top();
    return true;
  }

  // All below the top is final.
  void finish_top() {
    std::int64_t at_least = 0;  // pairs to be looked at
    for (const auto& [before, arc, y] : changes_.bases) {
      const std::uint8_t state = std::exchange(changes_.state[arc], 0);
      Pair& base = base_of(y, arc);
      const bool up = (state & Changes::up_lost) && base[0] == before[0];
      const bool down = (state & Changes::down_lost) && base[1] == before[1];
      if (up || down) base = computed<Part::below_top>(y, arc, edge_weights(arc), base, up, down);
      if (any(base != before)) at_least += skeleton_.first[y + 1] - skeleton_.first[y];
    }
    if (at_least == 0) return;
    at_top_ = true;
    const std::int64_t most = topology_.top.pairs / pairs_in_product;
    const std::size_t below = changes_.entries.size();
    if (2 * at_least <= most) {
      work_ = 0;
      for (const auto& [before, arc, y] : changes_.bases)
        if (any(base_of(y, arc) != before)) follow(y, arc, before, base_of(y, arc));
      while (!changes_.queue.empty() && work_ <= most) settle(changes_.queue.take_lowest());
    }
    if (2 * at_least > most || !changes_.queue.empty()) {
      forget(below);
      customize::Pass(topology_, costs_).run_top();
    }
    changes_.entries.resize(below);
  }

  // Of an arc of the top with the lower end y.
  Pair& base_of(std::int32_t y, std::int32_t arc) { return base_[arc - topology_.top.shift[skeleton_.node[y]]]; }
  Pair edge_weights(std::int32_t arc) const {
    const std::int32_t* const edge = topology_.plan.edge.data() + 2 * static_cast<std::size_t>(arc);
    return Pair{weight_[edge[0]], weight_[edge[1]]};
  }

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

  [[gnu::noinline]] void follow_pair(const Pair* row, std::int32_t y, std::int32_t arc, std::int32_t low,
                                     std::int32_t high) {
    const auto find = [&](std::int32_t at) {
      const auto found = std::lower_bound(changed_.begin(), changed_.end(), at,
                                          [](const Changed& each, std::int32_t place) { return each.at < place; });
      return found != changed_.end() && found->at == at ? std::pair{found->was, found->now}
                                                        : std::pair{row[at], row[at]};
    };
    const auto [was_low, now_low] = find(low);
    const auto [was_high, now_high] = find(high);
    follow(y, arc, swapped(was_low) + was_high, swapped(now_low) + now_high);
  }

  // An offer to an arc of rank y has changed.
  [[gnu::noinline]] void follow(std::int32_t y, std::int32_t arc, Pair was, Pair now) {
    assert(skeleton_.first[y] <= arc && arc < skeleton_.first[y + 1]);
    const bool is_base = !at_top_ && topology_.top.has(skeleton_.node[y]);
    Pair& known = is_base ? base_of(y, arc) : length_[arc];
    const Pair length = known;
    const auto falls = now < length, lost = (was == length) & (was < now);
    if (!any(falls | lost)) return;
    std::uint8_t& state = changes_.state[arc];
    if (!(state & Changes::has_entry)) {
      if (is_base) changes_.bases.push_back({length, arc, y});
      else add_entry(y, arc, length);
    }
    if (any(lost)) {  // what compute() will read
      __builtin_prefetch(topology_.plan.edge.data() + 2 * static_cast<std::size_t>(arc));
      __builtin_prefetch(topology_.below.first_side.data() + arc);
    }
    state |= static_cast<std::uint8_t>(Changes::has_entry | (lost[0] ? Changes::up_lost : 0) |
                                       (lost[1] ? Changes::down_lost : 0));
    known = least(now, length);
  }

  [[gnu::noinline]] void add_entry(std::int32_t y, std::int32_t arc, Pair before) {
    std::int32_t& first = changes_.first[y];
    if (first < 0) changes_.queue.insert(y);
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
      if (up || down)
        length_[arc] = at_top_ ? computed<Part::top>(x, arc, base_of(x, arc), length_[arc], up, down)
                               : computed<Part::all>(x, arc, edge_weights(arc), length_[arc], up, down);
      if (any(length_[arc] != before)) changed_.push_back({before, length_[arc], no_numbers, arc - begin});
    }
    if (changed_.empty()) return;
    std::sort(changed_.begin(), changed_.end(), [](const Changed& a, const Changed& b) { return a.at < b.at; });
    for (Changed& each : changed_) {
      row[each.at] = least(each.was, each.now);
      each.lower = each.was != each.now ? row[each.at] : no_numbers;
    }
    offer_all(x, row);
    for (const Changed& each : changed_) row[each.at] = each.now;
    work_ += static_cast<std::int64_t>(changed_.size()) * size;
  }

  // What an arc is offered by a part of the ranks, and `best` to begin with. Only lengths that have lost a minimum, and
  // are not below what they were `before`, are computed.
  template <Part part>
  [[gnu::noinline]] Pair computed(std::int32_t x, std::int32_t arc, Pair best, Pair before, bool up, bool down) {
    best = Pair{up ? best[0] : before[0], down ? best[1] : before[1]};
    const auto low = [x] { return x; };
    any_below<part>(topology_, arc, low, [&](std::int32_t to_low, std::int32_t to_high) {
      const Pair offered = swapped(length_[to_low]) + length_[to_high];
      best = least(offered, best);
      ++work_;
      return best[0] <= before[0] && best[1] <= before[1];  // another one was equal
    });
    return best;
  }

  // Tests all pairs of x's row in which an arc has changed. Meanwhile the row has the lower of old and new lengths.
  //
  // Most changes leave the arcs above as they are, those that are now offered and those that were: the lower of both is
  // above the length of the arc. What has not changed is NaN, for which no test holds.
  void offer_all(std::int32_t x, const Pair* row) {
    const std::int32_t s = skeleton_.node[x], end = skeleton_.begin[s + 1], chain = end - x - 1;
    const std::int32_t h = skeleton_.list_size(s);
    // Place i of the row leads to y, and to(j) is the arc between y and where place j > i leads.
    const Changed *next = changed_.data(), *const stop = next + changed_.size();
    const auto offer_at = [&](std::int32_t i, std::int32_t y, auto to) {
      const std::int32_t shift = at_top_ ? -1 : topology_.top.shift[skeleton_.node[y]];
      const Pair* const known = shift < 0 ? length_ : base_;
      const auto known_of = [=](std::int32_t j) { return known[to(j) - std::max(shift, 0)]; };
      const Changed* const own = next;
      if (own->at == i) ++next;
      const Pair factor = swapped(row[i]);
      for (const Changed* each = next; each != stop; ++each)
        if (reaches(factor + each->lower, known_of(each->at))) [[unlikely]]
          follow_pair(row, y, to(each->at), i, each->at);
      if (own == next) return;
      const Pair mine = swapped(own->lower);
      for (std::int32_t j = i + 1; j < chain + h; ++j)
        if (reaches(mine + row[j], known_of(j))) [[unlikely]]
          follow_pair(row, y, to(j), i, j);
    };
    for (std::int32_t i = 0; i < chain && next != stop; ++i) {  // in the node, rows are aligned
      const std::int32_t base = skeleton_.first[x + 1 + i] - (i + 1);
      offer_at(i, x + 1 + i, [=](std::int32_t j) { return base + j; });
    }
    const std::int32_t* const list = skeleton_.list_of(s);
    const std::int32_t* target = topology_.plan.targets.data() + topology_.plan.first_target[s];
    if (h <= Plan::short_list) {  // the arcs of pairs (0, 1), (0, 2), ..., (1, 2), ...
      for (std::int32_t i = 0; i + 1 < h && next != stop; target += h - 1 - i, ++i) {
        const std::int32_t* const arcs = target - (chain + i + 1);
        offer_at(chain + i, list[i], [=](std::int32_t j) { return arcs[j]; });
      }
      return;
    }
    for (std::int32_t i = 0; i + 1 < h && next != stop;) {
      const std::int32_t to = target[0], size = target[1];
      const std::int32_t* const places = target + 2 - (chain + i + 1);
      target += 2 + h - (i + 1);
      for (; i < to && i + 1 < h && next != stop; ++i) {
        const std::int32_t base = skeleton_.first[list[i] + 1] - size;
        offer_at(chain + i, list[i], [=](std::int32_t j) { return base + places[j]; });
      }
    }
  }

  // Leaves nothing in the queue, nor the state of entries from there on.
  void forget(std::size_t from) {
    while (!changes_.queue.empty()) changes_.first[changes_.queue.take_lowest()] = -1;
    for (; from < changes_.entries.size(); ++from) changes_.state[changes_.entries[from].arc] = 0;
  }

  [[gnu::noinline]] void undo() {
    forget(0);
    for (const auto& [before, arc, next] : changes_.entries) length_[arc] = before;
    for (const auto& [before, arc, y] : changes_.bases) {
      changes_.state[arc] = 0;
      base_of(y, arc) = before;
    }
    for (auto edge = changes_.edges.rbegin(); edge != changes_.edges.rend(); ++edge)
      weight_[edge->first] = edge->second;
  }

  const Topology& topology_;
  const Skeleton& skeleton_;
  double* weight_;
  Pair *length_, *base_;
  Costs& costs_;
  Changes& changes_;
  struct Changed {
    Pair was, now, lower;  // the lower of both, NaN for a direction that has not changed
    std::int32_t at;       // in the row
  };
  std::vector<Changed> changed_;  // arcs of one rank
  std::int64_t work_ = 0;
  bool at_top_ = false;
};

}  // namespace rhostar
