// A range of instances, one after the other on the calling thread.
#pragma once

#include <cstdint>
#include <vector>

#include "best_first.hpp"

namespace rhostar {

// Instance i uses snapshot rows[i], starts at sources[i] and ends at goals[i], with the table of rho
// (and, where there is one, of the lower bound) numbered table[i].
template <class W>
struct Batch {
  Csr graph;
  const W* weights;
  std::int64_t stride;  // from one snapshot to the next
  const std::int64_t* rows;
  const std::int32_t* sources;
  const std::int32_t* goals;
  const std::int32_t* table;
  const double* rho;          // tables of n values each
  const double* lower_bound;  // likewise, or null
  std::int64_t size;
};

struct BatchOutcome {
  std::vector<std::uint8_t> status;
  std::vector<double> cost, bound;
  std::vector<std::int64_t> expanded, generated, reopened, peak_open;
  std::vector<std::int64_t> path_end;  // where instance i's path ends in `path`
  std::vector<std::int32_t> path;
  Status failure = Status::solved;  // anything beyond `budget` ended the batch at instance status.size()
  std::int64_t offender = -1;
};

template <class Rule, class W>
BatchOutcome solve_batch(const Batch<W>& batch, Options options, Workspace& workspace) {
  BatchOutcome all;
  NoLog log;
  for (std::int64_t i = 0; i < batch.size; ++i) {
    if (options.interrupt && options.interrupt->requested()) {
      all.failure = Status::stopped;
      return all;
    }
    const std::int64_t offset = std::int64_t{batch.table[i]} * batch.graph.n;
    options.lower_bound = batch.lower_bound ? batch.lower_bound + offset : nullptr;
    const OutArcs<W> arcs{batch.graph, batch.weights + batch.rows[i] * batch.stride};
    const Outcome out = query(arcs, Rule{batch.rho + offset}, batch.sources[i], batch.goals[i], options,
                              workspace, log, all.path);
    if (out.status > Status::budget) {
      all.failure = out.status;
      all.offender = out.offender;
      return all;
    }
    all.status.push_back(static_cast<std::uint8_t>(out.status));
    all.cost.push_back(out.cost);
    all.bound.push_back(out.bound);
    all.expanded.push_back(out.expanded);
    all.generated.push_back(out.generated);
    all.reopened.push_back(out.reopened);
    all.peak_open.push_back(out.peak_open);
    all.path_end.push_back(static_cast<std::int64_t>(all.path.size()));
  }
  return all;
}

}  // namespace rhostar
