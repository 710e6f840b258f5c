#include "best_first.hpp"

#include <nanobind/stl/vector.h>

#include "instances.hpp"

namespace rhostar::bindings {

namespace {

// Whether `which` has one of `count` things for each of `size` instances.
bool choose(const Indices& which, std::size_t size, std::size_t count) {
  bool fits = which.size() == size;
  for (std::size_t i = 0; fits && i < size; ++i) fits = which(i) >= 0 && static_cast<std::size_t>(which(i)) < count;
  return fits;
}

// Pointers to arrays of n values each; false if one of them is not such an array, or if `which` names a missing one.
bool collect(const std::vector<Table>& tables, const Indices& which, std::size_t size, std::size_t n,
             std::vector<const double*>& pointers) {
  for (const Table& table : tables) {
    if (!is_table(table, n)) return false;
    pointers.push_back(table.data());
  }
  return choose(which, size, tables.size());
}

BatchOutcome solve_many(Graph& graph, const Instances& instances, const SearchOptions& how,
                        const std::vector<Table>& rho, Indices rho_of, const std::vector<Table>& bound,
                        Indices bound_of, Stop* stop) {
  const auto n = static_cast<std::size_t>(graph.csr.n);
  const std::size_t size = instances.size();
  std::vector<const double*> rho_tables, bound_tables;
  if (!instances.fits(graph) || !collect(rho, rho_of, size, n, rho_tables) ||
      !(bound.empty() || collect(bound, bound_of, size, n, bound_tables)))
    return bad_input<BatchOutcome>();
  const Values values{rho_tables.data(), nullptr, rho_of.data(), bound.empty() ? nullptr : bound_tables.data(),
                      bound_of.data()};
  return with_batch<BatchOutcome>(graph, instances, how, values, stop,
                                  []<class Rule>(const auto& batch, const Options& options, Workspace& workspace) {
                                    return solve_batch<Rule>(batch, options, workspace);
                                  });
}

// The same with potentials: instance i uses potentials[rho_of[i]].
BatchOutcome solve_guided(Graph& graph, const Instances& instances, const SearchOptions& how,
                          const std::vector<SharedPotential*>& potentials, Indices rho_of,
                          const std::vector<Table>& bound, Indices bound_of, Stop* stop) {
  const std::size_t size = instances.size();
  std::vector<const double*> bound_tables;
  bool fits = instances.fits(graph) && choose(rho_of, size, potentials.size()) &&
              (bound.empty() || collect(bound, bound_of, size, static_cast<std::size_t>(graph.csr.n), bound_tables));
  for (const SharedPotential* potential : potentials) fits = fits && potential && potential->get().n == graph.csr.n;
  if (!fits) return bad_input<BatchOutcome>();
  std::vector<Guided> leases;
  std::vector<Guide*> guides;
  leases.reserve(potentials.size());
  for (const SharedPotential* potential : potentials) guides.push_back(&*leases.emplace_back(potential->get()));
  const Values values{nullptr, guides.data(), rho_of.data(), bound.empty() ? nullptr : bound_tables.data(),
                      bound_of.data()};
  return with_batch<BatchOutcome, GuideRho>(
      graph, instances, how, values, stop,
      []<class Rule>(const auto& batch, const Options& options, Workspace& workspace) {
        return solve_batch<Rule>(batch, options, workspace);
      });
}

struct Distances {
  Ending ending;
  std::vector<double> distance;  // the cost-to-go of every vertex, +inf if the goal cannot be reached
};

Distances distances_to(Graph& graph, Row weights, std::int64_t goal, Stop* stop) {
  if (weights.size() != static_cast<std::size_t>(graph.csr.m) || !graph.has_vertex(goal)) return bad_input<Distances>();
  Distances all;
  PythonInterrupt interrupt(stop);
  const bool known = with_weights(weights, [&](const auto* data) {
    graph.with_arcs_against(data, [&](const auto& arcs) {
      Unlocked unlocked;
      Lease workspace(graph.pool, graph.csr.n);
      all.ending = search_against(arcs, static_cast<std::int32_t>(goal), &interrupt, *workspace);
      if (all.ending.status != Status::done) return;
      const auto distance = distance_in(arcs, *workspace);
      all.distance.reserve(static_cast<std::size_t>(graph.csr.n));
      for (std::int32_t v = 0; v < graph.csr.n; ++v) all.distance.push_back(distance(v));
    });
  });
  interrupt.raise_if_signalled();
  return known ? std::move(all) : bad_input<Distances>();
}

}  // namespace

void bind_best_first(nb::module_& module, GraphClass& graph) {
  nb::class_<Instances>(module, "Instances")
      .def(nb::init<Snapshots, Positions, Indices, Indices>(), nb::arg("weights").noconvert(),
           nb::arg("rows").noconvert(), nb::arg("sources").noconvert(), nb::arg("goals").noconvert());
  nb::class_<SearchOptions>(module, "SearchOptions")
      .def(nb::init<bool, bool, std::int64_t>(), nb::arg("greedy"), nb::arg("reopen"), nb::arg("budget"));

  nb::class_<RunColumns> columns(module, "RunColumns");
  bind_array<&RunColumns::status>(columns, "status");
  bind_array<&RunColumns::cost>(columns, "cost");
  bind_array<&RunColumns::bound>(columns, "bound");
  bind_array<&RunColumns::expanded>(columns, "expanded");
  bind_array<&RunColumns::generated>(columns, "generated");
  bind_array<&RunColumns::reopened>(columns, "reopened");
  bind_array<&RunColumns::peak_open>(columns, "peak_open");
  bind_array<&RunColumns::path_end>(columns, "path_end");
  bind_array<&RunColumns::path>(columns, "path");
  bind_result<BatchOutcome>(module, "BatchOutcome").def_ro("runs", &BatchOutcome::runs);
  auto distances = bind_result<Distances>(module, "Distances");
  bind_array<&Distances::distance>(distances, "distance");

  graph
      .def("solve_many", &solve_many, nb::arg("instances"), nb::arg("options"), nb::arg("rho").noconvert(),
           nb::arg("rho_of").noconvert(), nb::arg("bound").noconvert(), nb::arg("bound_of").noconvert(),
           nb::arg("stop").none())
      .def("solve_guided", &solve_guided, nb::arg("instances"), nb::arg("options"), nb::arg("potentials"),
           nb::arg("rho_of").noconvert(), nb::arg("bound").noconvert(), nb::arg("bound_of").noconvert(),
           nb::arg("stop").none())
      .def("distances_to", &distances_to, nb::arg("weights").noconvert(), nb::arg("goal"), nb::arg("stop").none());
}

}  // namespace rhostar::bindings
