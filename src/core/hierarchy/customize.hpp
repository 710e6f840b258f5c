// Lengths of all arcs of a skeleton for one row of weights, in one pass over its nodes.
//
// An arc between low and high has two lengths, up and down. The graph's own arcs begin with their weights, all others
// with +inf. Then each rank x, in order, offers to every pair of its arcs, to y and to z above y, the way over itself:
//
//   up[yz] = min(up[yz], down[xy] + up[xz]),   down[yz] = min(down[yz], up[xy] + down[xz]).
//
// Both lengths are neighbors in memory, so that one vector instruction does both. A node does this for all its ranks at
// once: what it offers to one arc is a minimum in registers (minplus.hpp), and only the result goes to the arc. Where
// it goes is prepared once for each skeleton (plan.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "engine/interrupt.hpp"
#include "engine/status.hpp"
#include "hierarchy/costs.hpp"
#include "hierarchy/minplus.hpp"
#include "hierarchy/topology.hpp"

namespace rhostar {

namespace customize {

// What the columns of a small node offer: the minimum over c of factor[c] + row[c][0 .. width-1].
template <int width>
[[gnu::always_inline]] inline std::array<Pair, width> offer(const Pair* const* row, std::int64_t at, const Pair* factor,
                                                            std::int32_t count, std::array<Pair, width> best) {
  for (std::int32_t c = 0; c < count; ++c) {
    const Pair* const from = row[c] + at;
    for (int k = 0; k < width; ++k) best[k] = least(best[k], factor[c] + from[k]);
  }
  return best;
}

template <int width>
constexpr std::array<Pair, width> nothing() {
  std::array<Pair, width> none;
  none.fill(no_ways);
  return none;
}

// Columns of a node that are taken together.
constexpr std::int32_t most_columns = 64;
// Columns times list: a product pays for larger nodes only.
constexpr std::int32_t most_direct = 256;

class Pass {
 public:
  Pass(const Topology& topology, Costs& costs)
      : skeleton_(topology.skeleton), plan_(topology.plan), top_(topology.top), weights_(costs.weight.data()),
        length_(costs.length.data()), base_(costs.base.data()) {}

  Ending run(Interrupt& interrupt) {
    for (const Plan::Block& block : plan_.blocks)
      if (block.top) fill(block);
    target_ = plan_.targets.data();
    auto next_top = top_.nodes.begin();
    std::int64_t work = 0;
    for (const Plan::Block& block : plan_.blocks) {
      if (!block.top) fill(block);
      for (std::int32_t s = block.from; s < block.to; ++s) {
        if (next_top != top_.nodes.end() && s == *next_top) {  // after all below
          ++next_top;
          if (s + 1 < skeleton_.nodes()) target_ = plan_.targets.data() + plan_.first_target[s + 1];
          continue;
        }
        work += join(s);
        if (work > most_at_once && (work = 0, interrupt.requested())) return {.status = Status::stopped};
      }
    }
    each_top([&](Pair* row, Pair* base, std::int64_t size) { std::copy(row, row + size, base); });
    return join_top(&interrupt);
  }

  // The lengths of the top from their base. If memory runs out, nothing has happened.
  void run_top() {
    std::int32_t widest = 0;
    for (const std::int32_t s : top_.nodes) widest = std::max(widest, skeleton_.list_size(s));
    offered_.resize(2 * static_cast<std::size_t>(widest));
    each_top([&](Pair* row, Pair* base, std::int64_t size) { std::copy(base, base + size, row); });
    join_top(nullptr);
  }

 private:
  static constexpr std::int64_t most_at_once = 1 << 22;

  // Calls visit(lengths, base, count) for the arcs of each node of the top.
  template <class Visit>
  void each_top(Visit&& visit) {
    for (const std::int32_t s : top_.nodes) {
      const std::int32_t from = skeleton_.first[skeleton_.begin[s]], to = skeleton_.first[skeleton_.begin[s + 1]];
      visit(length_ + from, base_ + (from - top_.shift[s]), to - from);
    }
  }

  Ending join_top(Interrupt* interrupt) {
    std::int64_t work = 0;
    for (const std::int32_t s : top_.nodes) {
      target_ = plan_.targets.data() + plan_.first_target[s];
      work += join(s);
      if (interrupt && work > most_at_once && (work = 0, interrupt->requested())) return {.status = Status::stopped};
    }
    return {};
  }

  void fill(const Plan::Block& block) {
    const auto place = [&](std::int32_t s) { return 2 * std::int64_t{skeleton_.first[skeleton_.begin[s]]}; };
    const std::int64_t begin = place(block.from), end = place(block.to);
    const std::int32_t* const edge = plan_.edge.data();
    double* const lengths = reinterpret_cast<double*>(length_);
    for (std::int64_t i = begin; i < end; ++i) lengths[i] = weights_[edge[i]];
  }

  // Returns about how many pairs were looked at.
  std::int64_t join(std::int32_t s) {
    const std::int32_t from = skeleton_.begin[s], to = skeleton_.begin[s + 1], h = skeleton_.list_size(s);
    if (h <= Plan::short_list && to - from <= 3) {
      Pair* const rows = length_ + skeleton_.first[from];
      switch (8 * (to - from) + h) {
        case 8:
        case 9:
          return 1;
        case 10:
          return join_few<1, 2>(rows);
        case 11:
          return join_few<1, 3>(rows);
        case 12:
          return join_few<1, 4>(rows);
        case 13:
          return join_few<1, 5>(rows);
        case 14:
          return join_few<1, 6>(rows);
        case 16:
          return 1;
        case 17:
          return join_few<2, 1>(rows);
        case 18:
          return join_few<2, 2>(rows);
        case 19:
          return join_few<2, 3>(rows);
        case 20:
          return join_few<2, 4>(rows);
        case 21:
          return join_few<2, 5>(rows);
        case 22:
          return join_few<2, 6>(rows);
        case 25:
          return join_few<3, 1>(rows);
        case 26:
          return join_few<3, 2>(rows);
        case 27:
          return join_few<3, 3>(rows);
        case 28:
          return join_few<3, 4>(rows);
        default:
          break;
      }
    }
    return join_many(s, from, to, h);
  }

  // A node of k ranks with a list of h.
  template <int k, int h>
  std::int64_t join_few(Pair* rows) {
    Pair own[k][k - 1 + h];
    for (int c = 0; c < k; ++c) {
      for (int j = c; j < k - 1 + h; ++j) own[c][j] = *rows++;
      for (int b = 0; b < c; ++b) {
        const Pair factor = swapped(own[b][c - 1]);
        for (int j = c; j < k - 1 + h; ++j) own[c][j] = least(own[c][j], factor + own[b][j]);
      }
      if (c > 0)
        for (int j = c; j < k - 1 + h; ++j) rows[j - (k - 1 + h)] = own[c][j];
    }
    for (int i = k - 1; i < k - 1 + h; ++i)
      for (int j = i + 1; j < k - 1 + h; ++j) {
        Pair best = swapped(own[0][i]) + own[0][j];
        for (int c = 1; c < k; ++c) best = least(best, swapped(own[c][i]) + own[c][j]);
        put(length_ + *target_++, best);
      }
    return k * (k + h) * (k + h);
  }

  std::int64_t join_many(std::int32_t s, std::int32_t from, std::int32_t to, std::int32_t h) {
    // Within the node: each row takes in what the rows before it offer.
    const Pair* row[most_columns];
    Pair factor[2 * most_columns];
    for (std::int32_t y = from + 1; y < to; ++y) {
      Pair* const own = length_ + skeleton_.first[y];
      const std::int32_t size = skeleton_.first[y + 1] - skeleton_.first[y];
      if (size == 0) break;
      for (std::int32_t begin = from; begin < y; begin += most_columns) {
        const std::int32_t count = std::min(most_columns, y - begin);
        for (std::int32_t c = 0; c < count; ++c) {
          const Pair* const arc = length_ + skeleton_.first[begin + c] + (y - begin - c - 1);
          factor[c] = swapped(*arc);
          row[c] = arc + 1;
        }
        product_.one(row, factor, count, 0, size, &own);
      }
    }
    // To the rows above.
    const std::int32_t* const list = skeleton_.list_of(s);
    const std::int32_t* const target = target_;
    for (std::int32_t begin = from; begin < to; begin += most_columns) {
      const std::int32_t count = std::min(most_columns, to - begin);
      for (std::int32_t c = 0; c < count; ++c) row[c] = length_ + skeleton_.first[begin + c + 1] - h;
      target_ = target;
      if (h <= Plan::short_list) {
        for (std::int32_t i = 0; i < h; ++i) {
          for (std::int32_t c = 0; c < count; ++c) factor[c] = swapped(row[c][i]);
          for (std::int32_t j = i + 1; j < h; ++j)
            put(length_ + *target_++, offer<1>(row, j, factor, count, nothing<1>())[0]);
        }
        continue;
      }
      if (offered_.size() < 2 * static_cast<std::size_t>(h)) offered_.resize(4 * static_cast<std::size_t>(h));
      Pair* const offered[2] = {offered_.data(), offered_.data() + h};
      for (std::int32_t i = 0; i + 1 < h;) {
        const std::int32_t end = *target_++, size = *target_++;
        const std::int32_t* const place = target_ - (i + 1);  // place[j] is that of list[j]
        target_ += h - (i + 1);
        if (count * h <= most_direct) {
          for (; i < end; ++i) {
            Pair* const there = length_ + skeleton_.first[list[i] + 1] - size;
            for (std::int32_t c = 0; c < count; ++c) factor[c] = swapped(row[c][i]);
            std::int32_t j = i + 1;
            for (; j + 4 <= h; j += 4) {
              const auto best = offer<4>(row, j, factor, count, nothing<4>());
              for (int k = 0; k < 4; ++k) put(there + place[j + k], best[k]);
            }
            for (; j < h; ++j) put(there + place[j], offer<1>(row, j, factor, count, nothing<1>())[0]);
          }
          continue;
        }
        for (; i < end && i + 1 < h; i += 2) {
          const bool both = i + 1 < end;
          std::fill(offered[0] + i + 1, offered[0] + h, no_ways);
          if (both) {
            std::fill(offered[1] + i + 1, offered[1] + h, no_ways);
            for (std::int32_t c = 0; c < count; ++c) {
              factor[2 * c] = swapped(row[c][i]);
              factor[2 * c + 1] = swapped(row[c][i + 1]);
            }
            product_.two(row, factor, count, i + 1, h, offered);
          } else {
            for (std::int32_t c = 0; c < count; ++c) factor[c] = swapped(row[c][i]);
            product_.one(row, factor, count, i + 1, h, offered);
          }
          Pair* const there = length_ + skeleton_.first[list[i] + 1] - size;
          Pair* const next = length_ + skeleton_.first[list[i + 1] + 1] - size;
          for (std::int32_t j = i + 1; j < h; ++j) put(there + place[j], offered[0][j]);
          for (std::int32_t j = both ? i + 2 : h; j < h; ++j) put(next + place[j], offered[1][j]);
        }
        i = end;
      }
    }
    const std::int64_t wide = to - from;
    return wide * (h + wide) * (h + wide) / 2;
  }

  static void put(Pair* there, Pair offered) { *there = least(*there, offered); }

  const Skeleton& skeleton_;
  const Plan& plan_;
  const Top& top_;
  const double* weights_;  // of each edge, and +inf after them
  Pair *length_, *base_;
  const std::int32_t* target_ = nullptr;
  std::vector<Pair> offered_;  // two rows
  minplus::Products product_ = minplus::choose();
};

}  // namespace customize

}  // namespace rhostar
