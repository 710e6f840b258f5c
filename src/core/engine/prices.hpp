// The weights of one query: a sum of rows, times a factor for the class of each edge, with a few edges changed.
//
// Nothing is copied: a weight is computed when a search reads it. Whether an edge has its own weight is first looked up
// in a filter, which has a bit for each remainder of an edge and stays in the first-level cache.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace rhostar {

class Prices {
 public:
  // The sum of coefficient[i] * rows[i], added from the first one on. At least one row; the first coefficient is
  // positive. A row with the coefficient 0 closes the edges that are closed in it, and adds nothing else.
  std::vector<const double*> rows;
  std::vector<double> coefficients;
  // factor[class_of[edge]] multiplies the sum; null: no factors.
  const std::uint16_t* class_of = nullptr;
  std::vector<double> factors;

  // The edges with their own weights. If one occurs several times, the last one counts.
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
    const bool maybe = filter_[static_cast<std::size_t>((edge & mask_) >> 6)] >> (edge & 63) & 1;
    return maybe && find_own(edge) != nullptr;
  }

  double operator()(std::int64_t edge) const { return Reader(*this)(edge); }

  // What a search needs to read one weight.
  class Reader {
   public:
    explicit Reader(const Prices& prices)
        : prices_(&prices), filter_(prices.filter_.data()), mask_(prices.mask_), row_(prices.rows[0]),
          coefficient_(prices.coefficients[0]), class_of_(prices.class_of), factors_(prices.factors.data()),
          rows_(prices.rows.size()) {}
    [[gnu::always_inline]] double operator()(std::int64_t edge) const {
      if (filter_[static_cast<std::size_t>((edge & mask_) >> 6)] >> (edge & 63) & 1) [[unlikely]] {
        const double* const own = prices_->find_own(edge);
        if (own) return *own;
      }
      double weight = coefficient_ * row_[edge];
      if (rows_ > 1) [[unlikely]]
        weight = prices_->add_rows(edge, weight);
      return class_of_ ? weight * factors_[class_of_[edge]] : weight;
    }

   private:
    const Prices* prices_;
    const std::uint64_t* filter_;
    std::int64_t mask_;
    const double* row_;
    double coefficient_;
    const std::uint16_t* class_of_;
    const double* factors_;
    std::size_t rows_;
  };

 private:
  [[gnu::noinline]] const double* find_own(std::int64_t edge) const {
    const auto found = std::lower_bound(edges_.begin(), edges_.end(), static_cast<std::int32_t>(edge));
    return found != edges_.end() && *found == edge ? weights_.data() + (found - edges_.begin()) : nullptr;
  }
  double add_rows(std::int64_t edge, double weight) const {
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const double more = rows[i][edge];
      weight += more == std::numeric_limits<double>::infinity() ? more : coefficients[i] * more;
    }
    return weight;
  }

  std::vector<std::int32_t> edges_;  // increasing
  std::vector<double> weights_;
  std::vector<std::uint64_t> filter_ = std::vector<std::uint64_t>(1);
  std::int64_t mask_ = 63;
};

// Arcs of any kind with these weights.
template <class Arcs>
struct PricedArcs : Arcs {
  Prices::Reader price;
  PricedArcs(const Arcs& arcs, const Prices& of_query) : Arcs(arcs), price(of_query) {}
  double weight(std::int32_t arc) const { return price(Arcs::edge(arc)); }
};

}  // namespace rhostar
