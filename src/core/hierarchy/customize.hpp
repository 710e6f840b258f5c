// Lengths of all arcs of a skeleton for one row of weights, in one pass over its nodes.
//
// An arc between low and high has two lengths, up and down. The graph's own arcs begin with their weights, all others
// with +inf. Then each rank x, in order, offers to every pair of its arcs, to y and to z above y, the way over itself:
//
//   up[yz] = min(up[yz], down[xy] + up[xz]),   down[yz] = min(down[yz], up[xy] + down[xz]).
//
// Both lengths are neighbors in memory, so that one vector instruction does both. A node does this for all its ranks at
// once: what it offers to one arc is a minimum in registers (minplus.hpp), and only the result goes to the arc. Where
// it goes is prepared once for each skeleton (Plan).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "engine/csr.hpp"
#include "engine/interrupt.hpp"
#include "engine/status.hpp"
#include "hierarchy/minplus.hpp"
#include "hierarchy/skeleton.hpp"
#include "hierarchy/stored.hpp"

namespace rhostar {

// ---------------------------------------------------------------- where results go

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

// ---------------------------------------------------------------- weights and lengths

// Memory that is written whole, so it is not filled before.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t size)
      : size_(size), data_(static_cast<T*>(std::aligned_alloc(64, (size * sizeof(T) / 64 + 1) * 64))) {
    if (!data_) throw std::bad_alloc();
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  std::size_t size_;
  std::unique_ptr<T, Free> data_;
};

// What customizing makes.
struct Costs {
  Buffer<double> weight;  // of each edge, and +inf after them
  Buffer<Pair> length;    // of each arc
  bool large = false;     // whether sums of weights may overflow

  // Where these costs come from. Every content has a version of its own; if it was made from another one by an update,
  // that one has version `base`, and differs at most in these edges and arcs.
  std::uint64_t version = 0, base = 0;
  std::vector<std::int32_t> edges, arcs;

  Costs(std::size_t m, std::size_t count) : weight(m + 1), length(count) {}
  std::size_t bytes() const { return weight.size() * sizeof(double) + length.size() * sizeof(Pair); }

  //! From other costs of the same skeleton.
  void copy(const Costs& other) {
    std::copy(other.weight.data(), other.weight.data() + weight.size(), weight.data());
    std::copy(other.length.data(), other.length.data() + length.size(), length.data());
    large = other.large;
  }
  //! The same, if these are those that the other ones were made from.
  void catch_up(const Costs& other) {
    for (const std::int32_t e : other.edges) weight.data()[e] = other.weight.data()[e];
    for (const std::int32_t arc : other.arcs) length.data()[arc] = other.length.data()[arc];
    large = other.large;
  }
  //! Before or after the content changes: a version that nothing else has.
  void renew() {
    static std::atomic<std::uint64_t> last{0};
    version = ++last;
    base = 0;
    edges.clear();
    arcs.clear();
  }
};

// Whether the sum of all weights is finite. If it is not, a path could cost more than the largest double; the offender
// is the edge at which the sum overflows.
inline Ending check_sum(const double* weights, std::int64_t m) {
  double sum = 0.0;
  for (std::int64_t e = 0; e < m; ++e) {
    if (weights[e] < no_way) sum += weights[e];
    if (sum == no_way) return {.status = Status::overflow, .offender = e};
  }
  return {};
}

// Weights up to here cannot overflow in any sum over a path.
inline double most_harmless(const Csr& graph) { return std::numeric_limits<double>::max() / std::max(graph.n, 1); }

// Copies a row of weights. Fails for the first that is negative or NaN, for one with which a path could cost more than
// the largest double, and with `no_path` if all are infinite.
template <class W>
Ending take_weights(const W* weights, const Csr& graph, Costs& costs) {
  constexpr std::int64_t block = 4096;
  double* const copy = costs.weight.data();
  const double most = most_harmless(graph);
  bool large = false, some = graph.m == 0;
  for (std::int64_t begin = 0; begin < graph.m; begin += block) {
    const std::int64_t end = std::min<std::int64_t>(graph.m, begin + block);
    bool bad = false;
    for (std::int64_t e = begin; e < end; ++e) {
      const double weight = static_cast<double>(weights[e]) + 0.0;  // no -0.0: minima would depend on the order
      copy[e] = weight;
      bad |= is_bad(weights[e]);
      some |= weight < no_way;
      large |= (weight > most) & (weight < no_way);
    }
    if (bad)
      for (std::int64_t e = begin; e < end; ++e)
        if (is_bad(weights[e])) return {.status = Status::bad_weight, .offender = e};
  }
  copy[graph.m] = no_way;
  if (!some) return {.status = Status::no_path};
  costs.large = large;
  return large ? check_sum(copy, graph.m) : Ending{};
}

// ---------------------------------------------------------------- the pass

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
  Pass(const Skeleton& skeleton, const Plan& plan, Pair* length) : skeleton_(skeleton), plan_(plan), length_(length) {}

  // There is a weight for each edge, and +inf after them.
  Ending run(const double* weights, Interrupt& interrupt) {
    for (const Plan::Block& block : plan_.blocks)
      if (block.top) fill(block, weights);
    target_ = plan_.targets.data();
    std::int64_t work = 0;
    for (const Plan::Block& block : plan_.blocks) {
      if (!block.top) fill(block, weights);
      for (std::int32_t s = block.from; s < block.to; ++s) {
        work += join(s);
        if (work > (1 << 22)) {
          work = 0;
          if (interrupt.requested()) return {.status = Status::stopped};
        }
      }
    }
    return {};
  }

 private:
  void fill(const Plan::Block& block, const double* weights) {
    const auto place = [&](std::int32_t s) { return 2 * std::int64_t{skeleton_.first[skeleton_.begin[s]]}; };
    const std::int64_t begin = place(block.from), end = place(block.to);
    const std::int32_t* const edge = plan_.edge.data();
    double* const lengths = reinterpret_cast<double*>(length_);
    for (std::int64_t i = begin; i < end; ++i) lengths[i] = weights[edge[i]];
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
  Pair* length_;
  const std::int32_t* target_ = nullptr;
  std::vector<Pair> offered_;  // two rows
  minplus::Products product_ = minplus::choose();
};

}  // namespace customize

}  // namespace rhostar
