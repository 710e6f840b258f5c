// Checks what certificates assume about snapshots in one pass: weight bounds, integers, and equal snapshots.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/csr.hpp"
#include "engine/interrupt.hpp"
#include "engine/status.hpp"

namespace rhostar {

// What weights must satisfy; a bound with stride 0 is one number for all arcs.
struct Demands {
  const double* low;
  const double* high;
  std::int64_t low_stride, high_stride;
  bool integers;
  bool absent_allowed;  // absent arcs satisfy every bound, not only one whose upper end is inf
};

struct Survey {
  std::int64_t first_bad;  // the first arc that breaks a demand, or -1
  std::uint64_t digest;    // equal for snapshots of equal content
};

template <class W>
bool satisfies(const Demands& demands, std::int64_t e, W weight) {
  const auto value = static_cast<double>(weight);
  const double high = demands.high[e * demands.high_stride];
  if (is_absent(weight)) return demands.absent_allowed || high == std::numeric_limits<double>::infinity();
  if (demands.integers && std::floor(value) != value) return false;
  return demands.low[e * demands.low_stride] <= value && value <= high;
}

template <class W>
Survey survey(const W* weights, std::int64_t m, const Demands& demands) {
  // Four sums that do not wait for each other; each step is a bijection of the state for a given weight.
  std::uint64_t state[4] = {1, 2, 3, 4};
  constexpr std::uint64_t factor = 0x9E3779B97F4A7C15u;
  bool good = true;
  for (std::int64_t e = 0; e < m; ++e) {
    good &= satisfies(demands, e, weights[e]);
    const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(weights[e]) + 0.0);
    std::uint64_t& lane = state[e & 3];
    lane = std::rotl((lane ^ bits) * factor, 29);
  }
  std::uint64_t digest = static_cast<std::uint64_t>(m);
  for (const std::uint64_t lane : state) digest = std::rotl((digest ^ lane) * factor, 31);
  std::int64_t first = -1;
  if (!good)
    for (first = 0; satisfies(demands, first, weights[first]);) ++first;
  return {first, digest};
}

struct SurveyOutcome {
  Ending ending;                      // outside_bounds at: position in `rows`; offender: the arc
  std::vector<std::uint64_t> digest;  // of each snapshot
};

// The snapshots `rows`, up to the first that breaks a demand.
template <class W>
SurveyOutcome survey_rows(const W* weights, std::int64_t stride, std::int64_t m, const std::int64_t* rows,
                          std::int64_t count, const Demands& demands, Interrupt& interrupt) {
  SurveyOutcome all{.ending = {}, .digest = std::vector<std::uint64_t>(static_cast<std::size_t>(count))};
  for (std::int64_t i = 0; i < count; ++i) {
    if (interrupt.requested()) {
      all.ending = {Status::stopped, i};
      return all;
    }
    const Survey found = survey(weights + rows[i] * stride, m, demands);
    all.digest[static_cast<std::size_t>(i)] = found.digest;
    if (found.first_bad >= 0) {
      all.ending = {Status::outside_bounds, i, found.first_bad};
      return all;
    }
  }
  return all;
}

}  // namespace rhostar
