#include "engine/best_first.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "bindings/engine/instances.hpp"
#include "engine/explore.hpp"

namespace rhostar::bindings {

namespace {

// Whether `which` has one of `count` things for each of `size` instances.
bool choose(const Indices& which, std::size_t size, std::size_t count) {
  bool fits = which.size() == size;
  for (std::size_t i = 0; fits && i < size; ++i) fits = which(i) >= 0 && static_cast<std::size_t>(which(i)) < count;
  return fits;
}

// Arrays of n values each, one of which `which` names for each instance.
struct TableList {
  const std::vector<Table>& tables;
  std::vector<const double*> pointers{};

  bool fits(const Indices& which, std::size_t size, std::size_t n) {
    for (const Table& table : tables) {
      if (!is_table(table, n)) return false;
      pointers.push_back(table.data());
    }
    return choose(which, size, tables.size());
  }
  const double* const* data() const { return pointers.empty() ? nullptr : pointers.data(); }
};

// The same for potentials, with a guide for each.
struct GuideList {
  const std::vector<SharedPotential*>& potentials;
  std::vector<Guided> leases{};
  std::vector<Guide*> guides{};

  bool fits(const Indices& which, std::size_t size, std::size_t n) const {
    for (const SharedPotential* potential : potentials)
      if (!potential || static_cast<std::size_t>(potential->get().n) != n) return false;
    return choose(which, size, potentials.size());
  }
  Guide* const* take() {
    leases.reserve(potentials.size());
    for (const SharedPotential* potential : potentials) guides.push_back(&*leases.emplace_back(potential->get()));
    return guides.empty() ? nullptr : guides.data();
  }
};

// Lower bounds as tables or as potentials, or none at all.
struct BoundList {
  TableList tables;
  GuideList potentials;
  const Indices& which;

  bool fits(std::size_t size, std::size_t n) {
    if (tables.tables.empty() && potentials.potentials.empty()) return true;
    return potentials.potentials.empty() ? tables.fits(which, size, n)
                                         : tables.tables.empty() && potentials.fits(which, size, n);
  }
  void put_into(Values& values) {
    values.bound = tables.data();
    values.bound_guides = potentials.take();
    values.bound_of = which.data();
  }
};

constexpr auto solve_each = []<class Rule>(const auto& batch, const Options& options, Workspace& workspace) {
  return solve_batch<Rule>(batch, options, workspace);
};

BatchOutcome solve_many(Graph& graph, const Instances& instances, const SearchOptions& how,
                        const std::vector<Table>& rho, const Indices& rho_of, const std::vector<Table>& bound,
                        const std::vector<SharedPotential*>& bound_potentials, const Indices& bound_of, Stop* stop) {
  const auto n = static_cast<std::size_t>(graph.csr.n);
  TableList tables{rho};
  BoundList bounds{{bound}, {bound_potentials}, bound_of};
  if (!instances.fits(graph) || !tables.fits(rho_of, instances.size(), n) || !bounds.fits(instances.size(), n))
    return bad_input<BatchOutcome>();
  Values values{.rho = tables.data(), .guides = nullptr, .rho_of = rho_of.data()};
  bounds.put_into(values);
  return with_batch<BatchOutcome>(graph, instances, how, values, stop, solve_each);
}

// The same with potentials: instance i uses potentials[rho_of[i]].
BatchOutcome solve_guided(Graph& graph, const Instances& instances, const SearchOptions& how,
                          const std::vector<SharedPotential*>& potentials, const Indices& rho_of,
                          const std::vector<Table>& bound, const std::vector<SharedPotential*>& bound_potentials,
                          const Indices& bound_of, Stop* stop) {
  const auto n = static_cast<std::size_t>(graph.csr.n);
  GuideList guides{potentials};
  BoundList bounds{{bound}, {bound_potentials}, bound_of};
  if (!instances.fits(graph) || !guides.fits(rho_of, instances.size(), n) || !bounds.fits(instances.size(), n))
    return bad_input<BatchOutcome>();
  Values values{.rho = nullptr, .guides = guides.take(), .rho_of = rho_of.data()};
  bounds.put_into(values);
  return with_batch<BatchOutcome, GuideRho>(graph, instances, how, values, stop, solve_each);
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

struct Explored {
  Ending ending;  // done, or budget
  std::int64_t expanded = 0;
  std::vector<std::int32_t> vertex;  // in the order in which they were settled; goals by (cost, vertex)
  std::vector<double> cost;
  std::vector<std::int32_t> parent;  // -1 at the source
};

// Everything that costs at most `most`; with goals, the `wanted` nearest of them. Against the arcs: what leads to
// `source`, with parents that are successors. With prices, these are the weights.
Explored explore_from(Graph& graph, Row weights, const QueryPrices* prices, std::int64_t source, bool against,
                      double most, Indices goals, std::int64_t wanted, std::int64_t budget, Stop* stop) {
  if (weights.size() != static_cast<std::size_t>(graph.csr.m) || !graph.has_vertex(source) ||
      (prices && prices->edges != graph.csr.m))
    return bad_input<Explored>();
  Explored all;
  PythonInterrupt interrupt(stop);
  Options options;
  options.interrupt = &interrupt;
  if (budget >= 0) options.budget = budget;
  bool known = true;
  const auto run = [&](const auto& arcs) {
    Unlocked unlocked;
    Lease workspace(graph.pool, graph.csr.n);
    Frontier frontier{.most = most, .wanted = wanted};
    if (goals.is_valid()) {
      frontier.is_goal.resize(static_cast<std::size_t>(graph.csr.n) / 64 + 1);
      for (std::size_t i = 0; i < goals.size(); ++i) {
        if (!graph.has_vertex(goals(i))) return void(known = false);
        frontier.add_goal(arcs.inner(goals(i)));
      }
    }
    const Outcome out = explore(arcs, static_cast<std::int32_t>(source), frontier, options, *workspace);
    all.expanded = out.expanded;
    if (out.status != Status::solved && out.status != Status::no_path) {
      all.ending = {.status = out.status, .offender = out.offender};
      return;
    }
    const Node* nodes = (*workspace).nodes();
    auto& settled = frontier.settled;
    if (goals.is_valid()) {  // of equal costs, the smallest numbers
      const auto key = [&](std::int32_t v) { return std::pair(nodes[v].g, arcs.outer(v)); };
      std::sort(settled.begin(), settled.end(), [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
      settled.resize(std::min(settled.size(), static_cast<std::size_t>(std::max<std::int64_t>(wanted, 0))));
    }
    const std::size_t size = settled.size();
    all.vertex.resize(size);
    all.cost.resize(size);
    all.parent.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      const Node& node = nodes[settled[i]];
      all.vertex[i] = arcs.outer(settled[i]);
      all.cost[i] = node.g;
      all.parent[i] = node.parent < 0 ? -1 : arcs.outer(node.parent);
    }
  };
  const auto with_arcs = [&](const auto* data, const auto& call) {
    using W = std::remove_cvref_t<decltype(*data)>;
    if (against) graph.with_arcs_against(data, call);
    else if (graph.order) call(OrderedArcs<W>(*graph.order, data));
    else call(OutArcs<W>{graph.csr, data});
  };
  if (prices) with_arcs(prices->of.rows[0], [&](const auto& arcs) { run(PricedArcs(arcs, prices->of)); });
  else known = with_weights(weights, [&](const auto* data) { with_arcs(data, run); }) && known;
  interrupt.raise_if_signalled();
  return known ? std::move(all) : bad_input<Explored>();
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
  auto explored = bind_result<Explored>(module, "Explored");
  explored.def_ro("expanded", &Explored::expanded);
  bind_array<&Explored::vertex>(explored, "vertex");
  bind_array<&Explored::cost>(explored, "cost");
  bind_array<&Explored::parent>(explored, "parent");

  graph
      .def("solve_many", &solve_many, nb::arg("instances"), nb::arg("options"), nb::arg("rho").noconvert(),
           nb::arg("rho_of").noconvert(), nb::arg("bound").noconvert(), nb::arg("bound_potentials"),
           nb::arg("bound_of").noconvert(), nb::arg("stop").none())
      .def("solve_guided", &solve_guided, nb::arg("instances"), nb::arg("options"), nb::arg("potentials"),
           nb::arg("rho_of").noconvert(), nb::arg("bound").noconvert(), nb::arg("bound_potentials"),
           nb::arg("bound_of").noconvert(), nb::arg("stop").none())
      .def("explore", &explore_from, nb::arg("weights").noconvert(), nb::arg("prices").none(), nb::arg("source"),
           nb::arg("against"), nb::arg("most"), nb::arg("goals").noconvert().none(), nb::arg("wanted"),
           nb::arg("budget"), nb::arg("stop").none())
      .def("distances_to", &distances_to, nb::arg("weights").noconvert(), nb::arg("goal"), nb::arg("stop").none());
}

}  // namespace rhostar::bindings
