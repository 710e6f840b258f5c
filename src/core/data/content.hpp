// Snapshots in a few numbers, by which copies are found: a sketch of the weights and a hash of the absent arcs.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "engine/csr.hpp"
#include "engine/interrupt.hpp"
#include "engine/status.hpp"

namespace rhostar {

constexpr int kSketch = 8;

struct ContentOutcome {
  Ending ending;
  std::vector<double> sketches;       // kSketch numbers for each snapshot
  std::vector<std::uint64_t> absent;  // 0 if no arc is absent
};

// lg w, linear between powers of two: continuous and increasing. The slope is between 1/w and 2/w.
inline double rough_lg(double w) { return static_cast<double>(std::bit_cast<std::int64_t>(w)) * 0x1p-52 - 1023.0; }
inline double rough_power(double lg) {
  return std::bit_cast<double>(static_cast<std::int64_t>((lg + 1023.0) * 0x1p52));
}

// Adds direction·lg(w + typical) to one of kSketch sums in turn, where `typical` is the geometric mean of the weights.
// So a weight counts by its logarithm, however large, and one far below the others by its share of them: a code such as
// 1e9 for a closed road does not hide the rest, and a copy that was rounded has nearly the same sums.
template <class W>
std::uint64_t sketch(const W* weights, std::int64_t m, const double* direction, double* sums) {
  double total = 0;
  std::int64_t positive = 0;
  std::uint64_t absent = 0;
  for (std::int64_t e = 0; e < m; ++e) {
    if (is_absent(weights[e])) {
      absent = (absent ^ static_cast<std::uint64_t>(e + 1)) * 0x9E3779B97F4A7C15u;
      absent ^= absent >> 29;
    } else if (weights[e] > 0) {
      total += rough_lg(static_cast<double>(weights[e]));
      ++positive;
    }
  }
  const double typical = positive == 0 ? 1.0 : rough_power(total / static_cast<double>(positive));
  for (std::int64_t e = 0; e < m; ++e)
    if (!is_absent(weights[e])) sums[e % kSketch] += direction[e] * rough_lg(static_cast<double>(weights[e]) + typical);
  return absent;
}

// The snapshots `rows`, with a direction of m numbers.
template <class W>
ContentOutcome content_rows(const W* weights, std::int64_t stride, std::int64_t m, const std::int64_t* rows,
                            std::int64_t count, const double* direction, Interrupt& interrupt) {
  ContentOutcome all;
  all.sketches.resize(static_cast<std::size_t>(count * kSketch));
  for (std::int64_t i = 0; i < count; ++i) {
    if (interrupt.requested()) {
      all.ending = {Status::stopped, i};
      return all;
    }
    all.absent.push_back(sketch(weights + rows[i] * stride, m, direction, all.sketches.data() + i * kSketch));
  }
  return all;
}

}  // namespace rhostar
