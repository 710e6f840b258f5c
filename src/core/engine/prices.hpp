// The weights of one query: a sum of rows, times a factor for the class of each edge, and a few edges of their own.
//
// Nothing is copied: a weight is computed when a search reads it. Whether an edge has a weight of its own is asked of a
// filter first, which has a bit for each remainder of an edge and stays in the nearest cache.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace rhostar {

class Prices {
 public:
  // The sum of coefficient[i] * rows[i], added from the first one on. At least one row.
  std::vector<const double*> rows;
  std::vector<double> coefficients;
  // factor[class_of[edge]] multiplies the sum; null: no factors.
  const std::uint16_t* class_of = nullptr;
  std::vector<double> factors;

  // The edges with a weight of their own. If one is there several times, the last one counts.
  void set(const std::int64_t* edges, const double* weights, std::size_t count) {
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return edges[a] < edges[b]; });
    const std::size_t bits = std::bit_ceil(std::max<std::size_t>(64, 16 * count));
    mask_ = static_cast<std::int64_t>(bits - 1);
    filter_.assign(bits / 64, 0);
    for (std::size_t i = 0; i < count; ++i) {
      if (i + 1 < count && edges[order[i]] == edges[order[i + 1]]) continue;
      const std::int64_t edge = edges[order[i]];
      edges_.push_back(static_cast<std::int32_t>(edge));
      weights_.push_back(weights[order[i]] + 0.0);  // no -0.0
      filter_[static_cast<std::size_t>((edge & mask_) >> 6)] |= std::uint64_t{1} << (edge & 63);
    }
  }
  const std::vector<std::int32_t>& own_edges() const { return edges_; }
  const std::vector<double>& own_weights() const { return weights_; }
  bool has_own(std::int64_t edge) const {
    return may_be_own(edge) && std::binary_search(edges_.begin(), edges_.end(), static_cast<std::int32_t>(edge));
  }

  [[gnu::always_inline]] double operator()(std::int64_t edge) const {
    if (may_be_own(edge)) [[unlikely]] {
      const auto found = std::lower_bound(edges_.begin(), edges_.end(), static_cast<std::int32_t>(edge));
      if (found != edges_.end() && *found == edge) return weights_[static_cast<std::size_t>(found - edges_.begin())];
    }
    double weight = coefficients[0] * rows[0][edge];
    for (std::size_t i = 1; i < rows.size(); ++i) weight += coefficients[i] * rows[i][edge];
    return class_of ? weight * factors[class_of[edge]] : weight;
  }

 private:
  bool may_be_own(std::int64_t edge) const {
    return filter_[static_cast<std::size_t>((edge & mask_) >> 6)] >> (edge & 63) & 1;
  }

  std::vector<std::int32_t> edges_;  // increasing
  std::vector<double> weights_;
  std::vector<std::uint64_t> filter_ = std::vector<std::uint64_t>(1);
  std::int64_t mask_ = 63;
};

// Arcs of any kind with these weights.
template <class Arcs>
struct PricedArcs : Arcs {
  const Prices* prices;
  PricedArcs(const Arcs& arcs, const Prices& of_query) : Arcs(arcs), prices(&of_query) {}
  double weight(std::int32_t arc) const { return (*prices)(Arcs::edge(arc)); }
};

}  // namespace rhostar
