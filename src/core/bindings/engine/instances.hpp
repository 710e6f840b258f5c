// A range of instances and the options of their searches, as Python hands them over, for the kernels that run batches.
#pragma once

#include <cstdint>
#include <vector>

#include "bindings/common.hpp"
#include "engine/batch.hpp"

namespace rhostar::bindings {

// Instance i uses snapshot rows[i], starts at sources[i] and ends at goals[i].
struct Instances {
  Snapshots weights;
  Positions rows;
  Indices sources, goals;

  std::size_t size() const { return rows.size(); }
  bool fits(const Graph& graph) const {
    bool good = are_snapshots(graph, weights, rows) && sources.size() == size() && goals.size() == size();
    for (std::size_t i = 0; good && i < size(); ++i) good = graph.has_vertex(sources(i)) && graph.has_vertex(goals(i));
    return good;
  }
};

// How the searches run; a budget of -1 is none.
struct SearchOptions {
  bool greedy, reopen;
  std::int64_t budget;

  Options with(Interrupt& interrupt) const {
    Options options;
    options.reopen = reopen;
    if (budget >= 0) options.budget = budget;
    options.interrupt = &interrupt;
    return options;
  }
};

// The values that instance i uses: rho[rho_of[i]], or guides[rho_of[i]] for kernels that take guides, and, if there are
// any, bound[bound_of[i]] or bound_guides[bound_of[i]].
struct Values {
  const double* const* rho;
  Guide* const* guides;
  const std::int32_t* rho_of;
  const double* const* bound = nullptr;
  Guide* const* bound_guides = nullptr;
  const std::int32_t* bound_of = nullptr;
};

// Calls f<Rule>(batch, options, workspace) without the interpreter lock and returns its result. It ends with bad_input
// if the type of the weights is not accepted. The instances must fit the graph. Rho is what the rules take it from.
template <class Result, class Rho = TableRho, class F>
Result with_batch(Graph& graph, const Instances& instances, const SearchOptions& how, const Values& values, Stop* stop,
                  F&& f) {
  Result all;
  PythonInterrupt interrupt(stop);
  const Options options = how.with(interrupt);
  const bool known = with_weights(instances.weights, [&](const auto* data) {
    using W = std::remove_cvref_t<decltype(*data)>;
    Unlocked unlocked;
    Lease workspace(graph.pool, graph.csr.n);
    const auto run = [&]<class Arcs>(const Arcs& arcs) {
      const Batch<Arcs, W> batch{.arcs = arcs,
                                 .weights = data,
                                 .stride = instances.weights.stride(0),
                                 .rows = instances.rows.data(),
                                 .sources = instances.sources.data(),
                                 .goals = instances.goals.data(),
                                 .rho = values.rho,
                                 .guides = values.guides,
                                 .rho_of = values.rho_of,
                                 .bound = values.bound,
                                 .bound_guides = values.bound_guides,
                                 .bound_of = values.bound_of,
                                 .size = static_cast<std::int64_t>(instances.size())};
      if (how.greedy) all = f.template operator()<Greedy<Rho>>(batch, options, *workspace);
      else all = f.template operator()<AStar<Rho>>(batch, options, *workspace);
    };
    if (graph.order) run(OrderedArcs<W>(*graph.order, data));
    else run(OutArcs<W>{graph.csr, data});
  });
  interrupt.raise_if_signalled();
  return known ? std::move(all) : bad_input<Result>();
}

// The same with one table of rho for all instances.
template <class Result, class F>
Result with_batch(Graph& graph, const Instances& instances, const SearchOptions& how, const Table& rho, Stop* stop,
                  F&& f) {
  if (!instances.fits(graph) || !is_table(rho, static_cast<std::size_t>(graph.csr.n))) return bad_input<Result>();
  const double* const table = rho.data();
  const std::vector<std::int32_t> first(instances.size());
  return with_batch<Result>(graph, instances, how, Values{&table, nullptr, first.data()}, stop, std::forward<F>(f));
}

}  // namespace rhostar::bindings
