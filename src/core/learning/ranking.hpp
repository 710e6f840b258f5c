// Facts about runs that learners need: which vertices were selected before those of the path, which vertices were
// generated, and whether a set of runs takes fewer expansions than before.
//
// A vertex u off the path that is selected while the path's vertex p waits in OPEN is a comparison that went the
// wrong way: rho_u was too low against rho_p. Such comparisons are counted as whole numbers, so sums over instances
// are the same in any order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/batch.hpp"

namespace rhostar {

// A log of selections, v, and of reopenings, ~v.
struct SelectionLog {
  std::vector<std::int32_t> steps;
  void add(Event event, std::int32_t v, double) {
    if (event == Event::select) steps.push_back(v);
    if (event == Event::reopen) steps.push_back(~v);
  }
};

// A log of the vertices that were generated, each once: all whose rho was read.
struct GenerationLog {
  std::vector<std::int32_t> vertices;
  void add(Event event, std::int32_t v, double) {
    if (event == Event::open) vertices.push_back(v);
  }
};

// Paths to compare runs with, one after the other; if there are none, each run is compared with its own.
struct Paths {
  const std::int32_t* vertices = nullptr;
  const std::int64_t* ends = nullptr;
};

struct RankingOutcome {
  Ending ending;
  std::vector<std::uint8_t> status;
  std::vector<double> cost;
  std::vector<std::int64_t> expanded;
  std::vector<std::int64_t> lower;  // for each vertex: how often it waited on the path less how often it was in the way
};

// Counts the comparisons of one run. The first vertex of the path that is not in CLOSED is in OPEN: the one before it
// has been expanded, which generated it. Reopening may move it back toward the start. The goal's own value stays as it
// is, since a constant added to all of rho changes nothing.
class Ranking {
 public:
  explicit Ranking(std::int32_t n) : place_(static_cast<std::size_t>(n), -1), closed_(static_cast<std::size_t>(n)) {}

  void count(const std::vector<std::int32_t>& steps, const std::int32_t* path, std::int64_t size, std::int64_t* lower) {
    for (std::int64_t i = 0; i < size; ++i) place_[path[i]] = static_cast<std::int32_t>(i);
    std::int64_t waiting = 0;
    for (const std::int32_t step : steps) {
      if (step < 0) {
        closed_[~step] = 0;
        const std::int32_t place = place_[~step];
        if (place >= 0 && place < waiting) waiting = place;
        continue;
      }
      closed_[step] = 1;
      if (place_[step] < 0) {
        --lower[step];
        if (waiting < size - 1) ++lower[path[waiting]];
      }
      while (waiting < size - 1 && closed_[path[waiting]]) ++waiting;
    }
    for (std::int64_t i = 0; i < size; ++i) place_[path[i]] = -1;
    for (const std::int32_t step : steps) closed_[step < 0 ? ~step : step] = 0;
  }

 private:
  std::vector<std::int32_t> place_;  // on the path, or -1
  std::vector<std::uint8_t> closed_;
};

template <class Rule, class Arcs, class W>
RankingOutcome rank_batch(const Batch<Arcs, W>& batch, const Options& options, const Paths& paths,
                          Workspace& workspace) {
  RankingOutcome all;
  all.lower.resize(static_cast<std::size_t>(batch.arcs.graph.n));
  Ranking ranking(batch.arcs.graph.n);
  SelectionLog log;
  std::vector<std::int32_t> own;
  all.ending = each_instance<Rule>(batch, options.interrupt, [&](std::int64_t i, const Arcs& arcs, const Rule& rule) {
    log.steps.clear();
    own.clear();
    const Outcome out = query(arcs, rule, batch.sources[i], batch.goals[i], options, workspace, log, own);
    if (!is_end_of_run(out.status)) return out;
    all.status.push_back(static_cast<std::uint8_t>(out.status));
    all.cost.push_back(out.cost);
    all.expanded.push_back(out.expanded);
    if (paths.vertices) {
      const std::int64_t begin = i > 0 ? paths.ends[i - 1] : 0;
      ranking.count(log.steps, paths.vertices + begin, paths.ends[i] - begin, all.lower.data());
    } else if (out.status == Status::solved) {
      ranking.count(log.steps, own.data(), static_cast<std::int64_t>(own.size()), all.lower.data());
    }
    return out;
  });
  return all;
}

struct TouchedOutcome {
  Ending ending;
  std::vector<std::int64_t> ends;  // where instance i's vertices end
  std::vector<std::int32_t> vertices;
};

// The vertices whose rho each run reads. A run stays the same, step by step, when rho changes elsewhere.
template <class Rule, class Arcs, class W>
TouchedOutcome touch_batch(const Batch<Arcs, W>& batch, const Options& options, Workspace& workspace) {
  TouchedOutcome all;
  GenerationLog log;
  all.ending = each_instance<Rule>(batch, options.interrupt, [&](std::int64_t i, const Arcs& arcs, const Rule& rule) {
    const Outcome out =
        search(arcs, rule, arcs.inner(batch.sources[i]), arcs.inner(batch.goals[i]), options, workspace, log);
    all.ends.push_back(static_cast<std::int64_t>(log.vertices.size()));
    return out;
  });
  all.vertices = std::move(log.vertices);
  return all;
}

struct SpendingOutcome {
  Ending ending;  // `limit` if `total` ran out
  std::vector<std::int64_t> expanded;
};

// Runs instances as long as together they expand fewer than `total` vertices.
template <class Rule, class Arcs, class W>
SpendingOutcome spend_batch(const Batch<Arcs, W>& batch, Options options, std::int64_t total, Workspace& workspace) {
  SpendingOutcome all;
  NoLog log;
  const std::int64_t budget = options.budget;
  all.ending = each_instance<Rule>(batch, options.interrupt, [&](std::int64_t i, const Arcs& arcs, const Rule& rule) {
    options.budget = std::min(budget, total);
    Outcome out = search(arcs, rule, arcs.inner(batch.sources[i]), arcs.inner(batch.goals[i]), options, workspace, log);
    if (!is_end_of_run(out.status)) return out;
    total -= out.expanded;
    if (total <= 0) out.status = Status::limit;
    else all.expanded.push_back(out.expanded);
    return out;
  });
  return all;
}

}  // namespace rhostar
