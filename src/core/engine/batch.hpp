// Solves a range of instances, one after the other on the calling thread.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/best_first.hpp"

namespace rhostar {

// Instance i uses snapshot rows[i], starts at sources[i] and ends at goals[i], with the heuristic values
// rho[rho_of[i]], or those of guides[rho_of[i]], and, if there are any, the lower bounds bound[bound_of[i]] or those of
// bound_guides[bound_of[i]].
template <class Arcs, class W>
struct Batch {
  Arcs arcs;  // its weights are set for each instance
  const W* weights;
  std::int64_t stride;  // from one snapshot to the next
  const std::int64_t* rows;
  const std::int32_t* sources;
  const std::int32_t* goals;
  const double* const* rho;
  Guide* const* guides;  // for rules that compute rho
  const std::int32_t* rho_of;
  const double* const* bound;  // null if there are none
  Guide* const* bound_guides;  // null if there are none
  const std::int32_t* bound_of;
  std::int64_t size;

  LowerBound lower_bound(std::int64_t i) const {
    if (bound) return {.table = bound[bound_of[i]]};
    if (!bound_guides) return {};
    Guide* const guide = bound_guides[bound_of[i]];
    guide->aim(goals + i, 1, Today(weights + rows[i] * stride));
    return {.guide = guide};
  }
};

// Calls search(i, arcs, rule) for each instance, which returns an Outcome, up to the first that is a failure.
template <class Rule, class Arcs, class W, class Search>
Ending each_instance(const Batch<Arcs, W>& batch, Interrupt* interrupt, Search&& search) {
  Arcs arcs = batch.arcs;
  for (std::int64_t i = 0; i < batch.size; ++i) {
    if (interrupt && interrupt->requested()) return {Status::stopped, i};
    arcs.weights = batch.weights + batch.rows[i] * batch.stride;
    const std::int32_t which = batch.rho_of[i];
    const Rule rule = [&] {
      if constexpr (is_guided<Rule>) {
        batch.guides[which]->aim(batch.goals + i, 1, Today(batch.weights + batch.rows[i] * batch.stride));
        return Rule{{batch.guides[which]}};
      } else {
        return Rule{{batch.rho[which]}};
      }
    }();
    const Outcome out = search(i, arcs, rule);
    if (!is_end_of_run(out.status)) return {out.status, i, out.offender};
  }
  return {};
}

// The results of many runs, field by field.
struct RunColumns {
  std::vector<std::uint8_t> status;
  std::vector<double> cost, bound;
  std::vector<std::int64_t> expanded, generated, reopened, peak_open;
  std::vector<std::int64_t> path_end;  // where run i's path ends in `path`
  std::vector<std::int32_t> path;

  // Adds a run whose path is already at the end of `path`.
  void add(const Outcome& out) {
    status.push_back(static_cast<std::uint8_t>(out.status));
    cost.push_back(out.cost);
    bound.push_back(out.bound);
    expanded.push_back(out.expanded);
    generated.push_back(out.generated);
    reopened.push_back(out.reopened);
    peak_open.push_back(out.peak_open);
    path_end.push_back(static_cast<std::int64_t>(path.size()));
  }
};

struct BatchOutcome {
  Ending ending;
  RunColumns runs;
};

template <class Rule, class Arcs, class W>
BatchOutcome solve_batch(const Batch<Arcs, W>& batch, Options options, Workspace& workspace) {
  BatchOutcome all;
  NoLog log;
  all.ending = each_instance<Rule>(batch, options.interrupt, [&](std::int64_t i, const Arcs& arcs, const Rule& rule) {
    options.lower_bound = batch.lower_bound(i);
    const Outcome out = query(arcs, rule, batch.sources[i], batch.goals[i], options, workspace, log, all.runs.path);
    if (is_end_of_run(out.status)) all.runs.add(out);
    return out;
  });
  return all;
}

}  // namespace rhostar
