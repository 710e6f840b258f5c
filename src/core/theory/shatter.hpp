// Finds thresholds under which vectors of values show every pattern, or proves that there are none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/interrupt.hpp"
#include "engine/status.hpp"

namespace rhostar {

struct Thresholds {
  Ending ending;
  bool found = false;
  std::vector<std::int32_t> cuts;  // for each column, if found
};

// `ranks` holds vectors of `columns` ranks, row by row. Patterns say for each column whether the rank is at least
// its cut. Columns are fixed one after the other; the rows fall into classes by their pattern so far, and a cut
// must split every class, so it is in an interval; the column with the shortest interval is fixed next.
class Shatter {
 public:
  Shatter(const std::int32_t* ranks, std::int64_t rows, std::int32_t columns, Interrupt* interrupt)
      : ranks_(ranks), rows_(rows), columns_(columns), interrupt_(interrupt) {}

  Thresholds find() {
    all_.cuts.assign(static_cast<std::size_t>(columns_), -1);
    if (columns_ <= 40 && rows_ >> columns_ != 0)
      all_.found = extend(std::vector<std::uint64_t>(static_cast<std::size_t>(rows_), 0), 0);
    return all_;
  }

 private:
  const std::int32_t* ranks_;
  std::int64_t rows_;
  std::int32_t columns_;
  Interrupt* interrupt_;
  Thresholds all_;
  std::int64_t visited_ = 0;

  bool extend(const std::vector<std::uint64_t>& pattern, std::int32_t depth) {
    if (depth == columns_) return true;
    if ((++visited_ & 255) == 0 && interrupt_ && interrupt_->requested()) {
      all_.ending.status = Status::stopped;
      return false;
    }
    const std::size_t classes = std::size_t{1} << depth;
    std::vector<std::int64_t> size(classes, 0);
    for (const std::uint64_t p : pattern) ++size[p];
    for (const std::int64_t s : size)
      if (s >> (columns_ - depth) == 0) return false;  // too few rows for the patterns to come
    std::int32_t best = -1, from = 0, to = 0;
    std::vector<std::int32_t> least(classes), most(classes);
    for (std::int32_t k = 0; k < columns_; ++k) {
      if (all_.cuts[k] >= 0) continue;
      std::fill(least.begin(), least.end(), INT32_MAX);
      std::fill(most.begin(), most.end(), -1);
      for (std::int64_t r = 0; r < rows_; ++r) {
        const std::int32_t rank = ranks_[r * columns_ + k];
        least[pattern[r]] = std::min(least[pattern[r]], rank);
        most[pattern[r]] = std::max(most[pattern[r]], rank);
      }
      const std::int32_t low = *std::max_element(least.begin(), least.end()) + 1;
      const std::int32_t high = *std::min_element(most.begin(), most.end());
      if (low > high) return false;
      if (best < 0 || high - low < to - from) best = k, from = low, to = high;
    }
    std::vector<std::uint64_t> next(pattern.size());
    for (std::int32_t cut = from; cut <= to; ++cut) {
      for (std::int64_t r = 0; r < rows_; ++r)
        next[r] = pattern[r] | static_cast<std::uint64_t>(ranks_[r * columns_ + best] >= cut) << depth;
      all_.cuts[best] = cut;
      if (extend(next, depth + 1)) return true;
      if (all_.ending.status == Status::stopped) return false;
    }
    all_.cuts[best] = -1;
    return false;
  }
};

}  // namespace rhostar
