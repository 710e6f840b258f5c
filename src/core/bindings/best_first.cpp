#include "best_first.hpp"

#include "batch.hpp"
#include "common.hpp"

#include <nanobind/stl/vector.h>

namespace rhostar::bindings {

namespace {

Options make_options(bool reopen, std::int64_t budget, Interrupt& interrupt) {
  Options options;
  options.reopen = reopen;
  if (budget >= 0) options.budget = budget;
  options.interrupt = &interrupt;
  return options;
}

// Pointers to tables of n values each; false where one of them is none, or where `which` names another.
bool collect(const std::vector<Table>& tables, const Indices& which, std::size_t size, std::size_t n,
             std::vector<const double*>& pointers) {
  for (const Table& table : tables) {
    if (!is_table(table, n)) return false;
    pointers.push_back(table.data());
  }
  bool fits = which.size() == size;
  for (std::size_t i = 0; fits && i < size; ++i)
    fits = which(i) >= 0 && static_cast<std::size_t>(which(i)) < tables.size();
  return fits;
}

// (failure, offender, status, cost, expanded, generated, reopened, peak_open, bound, path_end, path)
nb::tuple solve_many(Graph& graph, bool greedy, Snapshots weights, Positions rows, Indices sources, Indices goals,
                     const std::vector<Table>& rho, Indices rho_of, bool reopen, std::int64_t budget,
                     const std::vector<Table>& bound, Indices bound_of, Stop* stop) {
  const auto n = static_cast<std::size_t>(graph.csr.n);
  const std::size_t size = rows.size();
  std::vector<const double*> rho_tables, bound_tables;
  bool fits = weights.shape(1) == static_cast<std::size_t>(graph.csr.m) &&
              (weights.stride(1) == 1 || weights.shape(1) <= 1) && sources.size() == size && goals.size() == size &&
              collect(rho, rho_of, size, n, rho_tables) &&
              (bound.empty() || collect(bound, bound_of, size, n, bound_tables));
  for (std::size_t i = 0; fits && i < size; ++i)
    fits = rows(i) >= 0 && rows(i) < static_cast<std::int64_t>(weights.shape(0)) && graph.has_vertex(sources(i)) &&
           graph.has_vertex(goals(i));
  if (!fits) return nb::make_tuple(bad_input, -1);

  BatchOutcome all;
  PythonInterrupt interrupt(stop);
  const Options options = make_options(reopen, budget, interrupt);
  const bool known = with_weights(weights, [&](const auto* data) {
    using W = std::remove_cvref_t<decltype(*data)>;
    Unlocked unlocked;
    Lease workspace(graph.pool, graph.csr.n);
    const auto run = [&]<class Arcs>(const Arcs& arcs) {
      const Batch<Arcs, W> batch{.arcs = arcs,
                                 .weights = data,
                                 .stride = weights.stride(0),
                                 .rows = rows.data(),
                                 .sources = sources.data(),
                                 .goals = goals.data(),
                                 .rho = rho_tables.data(),
                                 .rho_of = rho_of.data(),
                                 .bound = bound.empty() ? nullptr : bound_tables.data(),
                                 .bound_of = bound_of.data(),
                                 .size = static_cast<std::int64_t>(size)};
      all = greedy ? solve_batch<GreedyRule>(batch, options, *workspace)
                   : solve_batch<AStarRule>(batch, options, *workspace);
    };
    if (graph.order) run(OrderedArcs<W>(*graph.order, data));
    else run(OutArcs<W>{graph.csr, data});
  });
  interrupt.raise_if_signalled();
  if (!known) return nb::make_tuple(bad_input, -1);
  return nb::make_tuple(static_cast<int>(all.failure), all.offender, to_numpy(std::move(all.status)),
                        to_numpy(std::move(all.cost)), to_numpy(std::move(all.expanded)),
                        to_numpy(std::move(all.generated)), to_numpy(std::move(all.reopened)),
                        to_numpy(std::move(all.peak_open)), to_numpy(std::move(all.bound)),
                        to_numpy(std::move(all.path_end)), to_numpy(std::move(all.path)));
}

// (failure, offender, distances)
nb::tuple distances_to(Graph& graph, Row weights, std::int64_t goal, Stop* stop) {
  if (weights.size() != static_cast<std::size_t>(graph.csr.m) || !graph.has_vertex(goal))
    return nb::make_tuple(bad_input, -1);
  const Transpose& transpose = graph.transposed();
  std::vector<double> distance(static_cast<std::size_t>(graph.csr.n));
  Outcome out;
  PythonInterrupt interrupt(stop);
  const bool known = with_weights(weights, [&](const auto* data) {
    using W = std::remove_cvref_t<decltype(*data)>;
    Unlocked unlocked;
    Lease workspace(graph.pool, graph.csr.n);
    out = distances(InArcs<W>{transpose.view(), transpose.edge.data(), data}, static_cast<std::int32_t>(goal),
                    &interrupt, *workspace, distance.data());
  });
  interrupt.raise_if_signalled();
  if (!known) return nb::make_tuple(bad_input, -1);
  // With nowhere to arrive, running out of vertices is success.
  const int failure = out.status == Status::no_path ? 0 : static_cast<int>(out.status);
  return nb::make_tuple(failure, out.offender, to_numpy(std::move(distance)));
}

}  // namespace

void bind_best_first(nb::class_<Graph>& graph) {
  graph
      .def("solve_many", &solve_many, nb::arg("greedy"), nb::arg("weights").noconvert(), nb::arg("rows").noconvert(),
           nb::arg("sources").noconvert(), nb::arg("goals").noconvert(), nb::arg("rho").noconvert(),
           nb::arg("rho_of").noconvert(), nb::arg("reopen"), nb::arg("budget"), nb::arg("bound").noconvert(),
           nb::arg("bound_of").noconvert(), nb::arg("stop").none())
      .def("distances_to", &distances_to, nb::arg("weights").noconvert(), nb::arg("goal"), nb::arg("stop").none());
}

}  // namespace rhostar::bindings
