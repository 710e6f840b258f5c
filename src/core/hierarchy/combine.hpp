// Which customized hierarchies guide a search under weights that none of them has.
//
// All weights are sums of the same parts: weights number k are sum_c of[k][c] * part_c, and those of the query are
// sum_c limit[c] * part_c. Where a * of[i] + b * of[j] <= limit in every part, a * d_i + b * d_j is consistent for the
// query (reprice.hpp). Distances are concave in the weights: the closer of[i] and of[j] are to the limit, the closer is
// the sum to the distances of the query.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

namespace rhostar {

struct Combination {
  std::size_t one = 0, other = 0;
  double a = 0.0, b = 0.0, value = 0.0;  // value: of a and b together
};

// The largest a * worth_one + b * worth_other with a * one + b * other <= limit. For a given b, a is the minimum of
// lines, one for each part, and so is the sum. Its maximum is found between two of them, one rising and one falling:
// where they meet, a third one may be lower, which takes the place of one of them.
inline Combination combine(const double* one, const double* other, const double* limit, std::size_t parts,
                           double worth_one, double worth_other) {
  constexpr int most_rounds = 64;  // every a and b on the way keeps the limit
  double most = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < parts; ++c)
    if (other[c] > 0.0) most = std::min(most, limit[c] / other[c]);
  const auto line = [&](std::size_t c, double b) { return (limit[c] - b * other[c]) / one[c]; };
  const auto lowest = [&](double b) {
    std::size_t found = parts;
    for (std::size_t c = 0; c < parts; ++c)
      if (one[c] > 0.0 && (found == parts || line(c, b) < line(found, b))) found = c;
    return found;
  };
  const auto rises = [&](std::size_t c) { return worth_other * one[c] > worth_one * other[c]; };
  Combination found;
  std::size_t left = lowest(0.0), right = lowest(most);
  if (left == parts || !(most < std::numeric_limits<double>::infinity())) return found;
  if (rises(right)) {
    found.b = most;
  } else if (rises(left)) {
    for (int round = 0; round < most_rounds; ++round) {
      const double fall = other[right] / one[right] - other[left] / one[left];
      if (!(fall > 0.0)) break;
      found.b = std::clamp((limit[right] / one[right] - limit[left] / one[left]) / fall, 0.0, most);
      const std::size_t next = lowest(found.b);
      if (next == left || next == right) break;
      (rises(next) ? left : right) = next;
    }
  }
  found.a = std::max(line(lowest(found.b), found.b), 0.0);
  // What was rounded up comes off again.
  double excess = 1.0;
  for (std::size_t c = 0; c < parts; ++c)
    if (limit[c] > 0.0) excess = std::max(excess, (found.a * one[c] + found.b * other[c]) / limit[c]);
  found.a /= excess;
  found.b /= excess;
  found.value = found.a * worth_one + found.b * worth_other;
  return found;
}

// The best two of `count` rows of parts, one of which may count 0.
inline Combination best_combination(const double* rows, const double* worth, std::size_t count, const double* limit,
                                    std::size_t parts) {
  Combination best;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = i + 1; j < count; ++j) {
      Combination found = combine(rows + i * parts, rows + j * parts, limit, parts, worth[i], worth[j]);
      found.one = i;
      found.other = j;
      if (found.value > best.value) best = found;
    }
  return best;
}

}  // namespace rhostar
