// Distances from one vertex to many, from many to one, and among many, by a customized hierarchy.
//
// One to many: one walk up from the vertex; then every other vertex is evaluated from its ancestors down, each ancestor
// once (PHAST restricted to the ancestors of what is asked for). Among many: one walk up from each; for a pair, the
// minimum over the common ancestors of way up plus way down, which is the rule of summation of single queries.
#pragma once

#include <algorithm>
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

 private:
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
    std::vector<std::int32_t> before, now;
    for (std::size_t k = 0; k < ends.size(); ++k) {
      if (interrupt.requested()) return {.status = Status::stopped};
      climb(ends[k], now);
      const auto both = std::min(before.size(), now.size());
      ends[k].shared = static_cast<std::int32_t>(
          std::mismatch(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(both), before.begin()).first -
          now.begin());
      std::swap(before, now);
    }
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

  void climb(End& end, std::vector<std::int32_t>& ancestors) {
    const int lane = end.row >= 0 ? 0 : 1;
    Pair* const known = lanes_.known.data();
    known[end.rank][lane] = 0.0;
    ancestors.clear();
    for (std::int32_t r = end.rank; r >= 0; r = skeleton_.next(r)) {
      ancestors.push_back(r);
      if (known[r][lane] < no_way) offer(skeleton_, on_.length, known, known[r], r);
    }
    std::reverse(ancestors.begin(), ancestors.end());
    end.depth = static_cast<std::int32_t>(ancestors.size());
    end.way = ways_.size();
    for (const std::int32_t r : ancestors) {
      ways_.push_back(known[r][lane]);
      known[r] = no_ways;
    }
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
};

}  // namespace rhostar
