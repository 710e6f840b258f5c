// Distances from one vertex to many, from many to one, and among many, by a customized hierarchy.
//
// One to many: one walk up from the vertex; then every other vertex is evaluated from its ancestors down, each ancestor
// once (PHAST restricted to the ancestors of what is asked for). Among many: one walk up from each; for a pair, the
// minimum over the common ancestors of way up plus way down, which is the rule of summation of single queries.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "engine/interrupt.hpp"
#include "engine/status.hpp"
#include "hierarchy/query.hpp"

namespace rhostar {

// Lane 0: from one source to many; lane 1: from many to one target.
template <int lane>
class Sweep {
 public:
  Sweep(const Customized& on, Lanes& lanes, double most)
      : on_(on), skeleton_(on.topology.skeleton), lanes_(lanes), most_(most) {}

  //! The costs of `count` vertices; +inf beyond `most`.
  Ending run(std::int32_t one, const std::int32_t* many, std::int64_t count, Interrupt& interrupt, double* out) {
    lanes_.value.resize(lanes_.known.size(), unknown);
    climb(one);
    Ending ending;
    std::int64_t work = 0;
    for (std::int64_t i = 0; i < count && ending.status == Status::done; ++i) {
      out[i] = resolve(skeleton_.rank[many[i]], work);
      if (work > patience && (work = 0, interrupt.requested())) ending = {.status = Status::stopped};
    }
    for (const std::int32_t r : lanes_.walked) lanes_.value[r] = unknown;
    forget(one);
    return ending;
  }

  //! The costs of all vertices, by their numbers.
  Ending run_all(std::int32_t one, Interrupt& interrupt, double* out) {
    lanes_.value.resize(lanes_.known.size(), unknown);
    climb(one);
    double* const value = lanes_.value.data();
    const std::int32_t n = skeleton_.size(), start = skeleton_.rank[one];
    Ending ending;
    std::int64_t work = 0;
    std::int32_t end = n;  // ranks from here on are done
    for (std::int32_t s = skeleton_.nodes() - 1; s >= 0 && ending.status == Status::done; --s) {
      bool reached = false;
      for (std::int32_t r = skeleton_.begin[s + 1] - 1; r >= skeleton_.begin[s]; --r) {
        value[r] = evaluate(r);
        reached |= value[r] < no_way;
      }
      work += skeleton_.first[skeleton_.begin[s + 1]] - skeleton_.first[skeleton_.begin[s]];
      end = skeleton_.begin[s];
      // Ways into the subtree of a node lead over the node or its list, unless they begin there.
      const std::int32_t below = on_.topology.first_below[s];
      if (!reached && below < s && !(skeleton_.begin[below] <= start && start < end) && !reaches(s)) {
        std::fill(value + skeleton_.begin[below], value + end, no_way);
        s = below;
      }
      if (work > patience && (work = 0, interrupt.requested())) ending = {.status = Status::stopped};
    }
    for (std::int32_t v = 0; v < n; ++v) out[v] = value[skeleton_.rank[v]];
    std::fill(value, value + n, unknown);
    forget(one);
    return ending;
  }

 protected:
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  static constexpr std::int64_t patience = 1 << 22;

  void climb(std::int32_t one) {
    Pair* const known = lanes_.known.data();
    const std::int32_t start = skeleton_.rank[one];
    known[start][lane] = 0.0;
    for (std::int32_t r = start; r >= 0; r = skeleton_.next(r))
      if (known[r][lane] <= most_) offer(skeleton_, on_.length, known, known[r], r);
  }
  void forget(std::int32_t one) {
    for (std::int32_t r = skeleton_.rank[one]; r >= 0; r = skeleton_.next(r)) lanes_.known[r] = no_ways;
    lanes_.walked.clear();
  }

  double resolve(std::int32_t r, std::int64_t& work) {
    double* const value = lanes_.value.data();
    const auto from = static_cast<std::ptrdiff_t>(lanes_.walked.size());
    for (std::int32_t x = r; x >= 0 && std::isnan(value[x]); x = skeleton_.next(x)) lanes_.walked.push_back(x);
    for (auto i = static_cast<std::ptrdiff_t>(lanes_.walked.size()) - 1; i >= from; --i) {
      const std::int32_t x = lanes_.walked[i];
      value[x] = evaluate(x);
      work += skeleton_.first[x + 1] - skeleton_.first[x];
    }
    return value[r];
  }

  // All ranks above are known.
  double evaluate(std::int32_t r) const {
    const double* const value = lanes_.value.data();
    const std::int32_t s = skeleton_.node[r], h = skeleton_.list_size(s), tail = skeleton_.first[r + 1] - h;
    const std::int32_t* const list = skeleton_.list_of(s);
    double best = lanes_.known[r][lane];
    const Pair* arc = on_.length + skeleton_.first[r];
    for (std::int32_t y = r + 1; arc < on_.length + tail; ++y, ++arc)
      best = std::min(best, value[y] + (*arc)[1 - lane]);
    for (std::int32_t i = 0; i < h; ++i) best = std::min(best, value[list[i]] + arc[i][1 - lane]);
    return best <= most_ ? best : no_way;
  }

  bool reaches(std::int32_t s) const {
    const std::int32_t* const list = skeleton_.list_of(s);
    return std::any_of(list, list + skeleton_.list_size(s), [&](std::int32_t r) { return lanes_.value[r] < no_way; });
  }

  const Customized& on_;
  const Skeleton& skeleton_;
  Lanes& lanes_;
  double most_;
};

// ---------------------------------------------------------------- among many

class Matrix {
 public:
  Matrix(const Customized& on, Lanes& lanes) : on_(on), skeleton_(on.topology.skeleton), lanes_(lanes) {}

  //! out[i * stride + j] is the distance from sources[i] to targets[j].
  Ending run(const std::int32_t* sources, std::int64_t rows, const std::int32_t* targets, std::int64_t columns,
             std::int64_t stride, Interrupt& interrupt, double* out) {
    std::vector<End> ends;
    for (std::int64_t i = 0; i < rows; ++i) ends.push_back({skeleton_.rank[sources[i]], i, -1});
    for (std::int64_t j = 0; j < columns; ++j) ends.push_back({skeleton_.rank[targets[j]], -1, j});
    std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.rank < b.rank; });
    // The ways of each end, from the root down, and how many ancestors it shares with the end before it.
    ways_.clear();
    for (const int lane : {0, 1}) {
      std::vector<End*> group;
      for (std::size_t k = 0; k <= ends.size(); ++k) {
        if (k < ends.size() && (ends[k].row >= 0) == (lane == 0)) group.push_back(&ends[k]);
        if (group.empty() || (k < ends.size() && group.size() < together)) continue;
        if (interrupt.requested()) return {.status = Status::stopped};
        climb(group, lane);
        group.clear();
      }
    }
    for (std::size_t k = 1; k < ends.size(); ++k) ends[k].shared = shared_depth(ends[k - 1], ends[k]);
    for (std::size_t k = 0; k < ends.size(); ++k) {
      if (ends[k].row < 0) continue;
      if (interrupt.requested()) return {.status = Status::stopped};
      double* const row = out + ends[k].row * stride;
      std::int32_t shared = ends[k].depth;
      for (std::size_t i = k + 1; i < ends.size(); ++i) {
        shared = std::min(shared, ends[i].shared);
        if (ends[i].column >= 0) row[ends[i].column] = meet(ends[k], ends[i], shared);
      }
      shared = ends[k].depth;
      for (std::size_t i = k; i-- > 0;) {
        shared = std::min(shared, ends[i + 1].shared);
        if (ends[i].column >= 0) row[ends[i].column] = meet(ends[k], ends[i], shared);
      }
    }
    return {};
  }

 private:
  struct End {
    std::int32_t rank;
    std::int64_t row, column;  // one of them is -1
    std::int32_t depth = 0, shared = 0;
    std::size_t way = 0;
  };

  // Ends that walk up together: each arc is read once for all of them.
  static constexpr std::size_t together = 2 * minplus::pairs_together;
  using Ways = std::array<Pair, together / 2>;

  void climb(const std::vector<End*>& group, int lane) {
    auto& [chain, first_of_chain] = chains_;
    chain.clear();
    first_of_chain.clear();
    lanes_.place.resize(lanes_.known.size(), -1);
    for (const End* end : group) {
      first_of_chain.push_back(static_cast<std::int32_t>(chain.size()));
      for (std::int32_t r = end->rank; r >= 0 && lanes_.place[r] < 0; r = skeleton_.next(r)) {
        lanes_.place[r] = static_cast<std::int32_t>(chain.size());
        chain.push_back(r);
      }
    }
    Ways none;
    none.fill(no_ways);
    known_.assign(chain.size(), none);
    for (std::size_t k = 0; k < group.size(); ++k) known_[lanes_.place[group[k]->rank]][k / 2][k % 2] = 0.0;
    // A chain ends where it meets an earlier one, so the last ones come first.
    auto end = static_cast<std::int32_t>(chain.size());
    for (auto begin = first_of_chain.rbegin(); begin != first_of_chain.rend(); end = *begin, ++begin)
      for (std::int32_t i = *begin; i < end;) {
        const std::int32_t s = skeleton_.node[chain[i]];
        const std::int32_t count = std::min(end - i, skeleton_.begin[s + 1] - chain[i]);
        rise(s, chain[i], count, known_.data() + i, lane);
        i += count;
      }
    for (std::size_t k = 0; k < group.size(); ++k) {
      End& each = *group[k];
      each.way = ways_.size();
      for (std::int32_t r = each.rank; r >= 0; r = skeleton_.next(r))
        ways_.push_back(known_[lanes_.place[r]][k / 2][k % 2]);
      each.depth = static_cast<std::int32_t>(ways_.size() - each.way);
      std::reverse(ways_.begin() + static_cast<std::ptrdiff_t>(each.way), ways_.end());
    }
    for (const std::int32_t r : chain) lanes_.place[r] = -1;
  }

  // Offers what is known about `count` ranks of a node, from r on, to the ranks above each of them; two at a time, and
  // the last one twice if it is left over.
  void rise(std::int32_t s, std::int32_t r, std::int32_t count, Ways* own, int lane) {
    const std::int32_t after = skeleton_.begin[s + 1], h = skeleton_.list_size(s);
    const std::int32_t* const list = skeleton_.list_of(s);
    above_.clear();
    for (std::int32_t y = r + 1; y < after; ++y) above_.push_back(lanes_.place[y]);
    for (std::int32_t i = 0; i < h; ++i) above_.push_back(lanes_.place[list[i]]);
    const auto size = static_cast<std::int32_t>(above_.size());
    for (std::int32_t x = 0; x < count; x += 2) {
      const Pair* one = on_.length + skeleton_.first[r + x];
      const Pair* two = one;
      Ways* last = own + x;
      if (x + 1 < count) {
        ++last;
        for (std::size_t k = 0; k < together / 2; ++k)
          (*last)[k] = least((*last)[k], own[x][k] + Pair{(*one)[lane], (*one)[lane]});
        two = on_.length + skeleton_.first[r + x + 1];
        ++one;
      }
      const auto done = static_cast<std::int32_t>(last - own);
      product_.spread(own[x].data(), last->data(), one, two, lane, above_.data() + done, size - done,
                      known_.front().data());
    }
  }

  // How many ancestors two ends have in common; a rank is an ancestor of itself.
  std::int32_t shared_depth(const End& a, const End& b) const {
    std::int32_t x = a.rank, y = b.rank, left = a.depth;
    while (x != y && x >= 0 && y >= 0) {
      if (x < y) {
        x = skeleton_.next(x);
        --left;
      } else {
        y = skeleton_.next(y);
      }
    }
    return x == y && x >= 0 ? left : 0;
  }

  // The minimum over the ancestors that both have.
  double meet(const End& a, const End& b, std::int32_t shared) const {
    const double *x = ways_.data() + a.way, *y = ways_.data() + b.way;
    constexpr std::int32_t width = 8;
    double best[width];
    std::fill(best, best + width, no_way);
    std::int32_t i = 0;
    for (; i + width <= shared; i += width)
      for (std::int32_t k = 0; k < width; ++k) {
        const double sum = x[i + k] + y[i + k];
        best[k] = sum < best[k] ? sum : best[k];
      }
    for (; i < shared; ++i) best[0] = std::min(best[0], x[i] + y[i]);
    return *std::min_element(best, best + width);
  }

  const Customized& on_;
  const Skeleton& skeleton_;
  Lanes& lanes_;
  std::vector<double> ways_;
  minplus::Products product_ = minplus::choose();
  std::vector<std::int32_t> above_;
  struct {
    std::vector<std::int32_t> rank, first;
  } chains_;
  std::vector<Ways> known_;  // about each rank of the chains
};

}  // namespace rhostar
