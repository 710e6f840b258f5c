// A range of instances, one after the other on the calling thread.
#pragma once

#include <cstdint>
#include <vector>

#include "best_first.hpp"

namespace rhostar {

// Instance i uses snapshot rows[i], starts at sources[i] and ends at goals[i], with the heuristic values
// rho[rho_of[i]] and, where there are any, the lower bounds bound[bound_of[i]].
template <class Arcs, class W>
struct Batch {
  Arcs arcs;  // with the weights of whatever instance
  const W* weights;
  std::int64_t stride;  // from one snapshot to the next
  const std::int64_t* rows;
  const std::int32_t* sources;
  const std::int32_t* goals;
  const double* const* rho;
  const std::int32_t* rho_of;
  const double* const* bound;  // null where there are none
  const std::int32_t* bound_of;
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

template <class Rule, class Arcs, class W>
BatchOutcome solve_batch(const Batch<Arcs, W>& batch, Options options, Workspace& workspace) {
  BatchOutcome all;
  NoLog log;
  Arcs arcs = batch.arcs;
  for (std::int64_t i = 0; i < batch.size; ++i) {
    if (options.interrupt && options.interrupt->requested()) {
      all.failure = Status::stopped;
      return all;
    }
    options.lower_bound = batch.bound ? batch.bound[batch.bound_of[i]] : nullptr;
    arcs.weights = batch.weights + batch.rows[i] * batch.stride;
    const Outcome out = query(arcs, Rule{batch.rho[batch.rho_of[i]]}, batch.sources[i], batch.goals[i], options,
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
