// Snapshots in a few numbers, by which copies are found: two projections, the squared length, a hash of absent arcs.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "engine/csr.hpp"
#include "engine/interrupt.hpp"
#include "engine/status.hpp"

namespace rhostar {

struct ContentOutcome {
  Ending ending;
  std::vector<double> first, second;  // of each snapshot
  std::vector<double> squares;
  std::vector<std::uint64_t> absent;  // 0 if no arc is absent
};

struct Content {
  double first, second, squares;
  std::uint64_t absent;
};

// Four sums for each number, so that additions do not wait for each other.
template <class Value>
Content projected(Value value, std::int64_t m, const double* first, const double* second) {
  double one[4] = {}, two[4] = {}, squared[4] = {};
  const auto add = [&](std::int64_t e, int lane) {
    const double w = value(e);
    one[lane] += w * first[e];
    two[lane] += w * second[e];
    squared[lane] += w * w;
  };
  std::int64_t e = 0;
  for (; e + 4 <= m; e += 4)
    for (int lane = 0; lane < 4; ++lane) add(e + lane, lane);
  for (; e < m; ++e) add(e, 0);
  const auto sum = [](const double* x) { return (x[0] + x[1]) + (x[2] + x[3]); };
  return {sum(one), sum(two), sum(squared), 0};
}

// Absent arcs count as weights of 0 in the sums, and go into the hash.
template <class W>
Content content(const W* weights, std::int64_t m, const double* first, const double* second) {
  Content found = projected([&](std::int64_t e) { return static_cast<double>(weights[e]); }, m, first, second);
  if (std::isfinite(found.squares)) return found;  // an absent arc is an infinite weight
  std::uint64_t hash = 0;
  for (std::int64_t e = 0; e < m; ++e)
    if (is_absent(weights[e])) {
      hash = (hash ^ static_cast<std::uint64_t>(e + 1)) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    }
  const auto present = [&](std::int64_t e) { return is_absent(weights[e]) ? 0.0 : static_cast<double>(weights[e]); };
  found = projected(present, m, first, second);
  found.absent = hash;
  return found;
}

// The snapshots `rows`, with two directions of m numbers each.
template <class W>
ContentOutcome content_rows(const W* weights, std::int64_t stride, std::int64_t m, const std::int64_t* rows,
                            std::int64_t count, const double* first, const double* second, Interrupt& interrupt) {
  ContentOutcome all;
  for (std::int64_t i = 0; i < count; ++i) {
    if (interrupt.requested()) {
      all.ending = {Status::stopped, i};
      return all;
    }
    const Content found = content(weights + rows[i] * stride, m, first, second);
    all.first.push_back(found.first);
    all.second.push_back(found.second);
    all.squares.push_back(found.squares);
    all.absent.push_back(found.absent);
  }
  return all;
}

}  // namespace rhostar
