#include "learning/optimal_path.hpp"

#include "bindings/engine/instances.hpp"

namespace rhostar::bindings {

namespace {

PathOutcome optimal_paths(Graph& graph, const Instances& instances, Stop* stop) {
  if (!instances.fits(graph)) return bad_input<PathOutcome>();
  const Transpose& transpose = graph.transposed();
  PathOutcome all;
  PythonInterrupt interrupt(stop);
  const bool known = with_weights(instances.weights, [&](const auto* data) {
    using W = std::remove_cvref_t<decltype(*data)>;
    Unlocked unlocked;
    Lease workspace(graph.pool, graph.csr.n);
    const PathBatch<W> batch{.graph = graph.csr,
                             .against = InArcs<W>{transpose.view(), transpose.edge.data(), data},
                             .weights = data,
                             .stride = instances.weights.stride(0),
                             .rows = instances.rows.data(),
                             .sources = instances.sources.data(),
                             .goals = instances.goals.data(),
                             .size = static_cast<std::int64_t>(instances.size())};
    all = rhostar::optimal_paths(batch, &interrupt, *workspace);
  });
  interrupt.raise_if_signalled();
  return known ? std::move(all) : bad_input<PathOutcome>();
}

}  // namespace

void bind_optimal_path(nb::module_& module, GraphClass& graph) {
  auto paths = bind_result<PathOutcome>(module, "PathOutcome");
  bind_array<&PathOutcome::cost>(paths, "cost");
  bind_array<&PathOutcome::end>(paths, "end");
  bind_array<&PathOutcome::edge>(paths, "edge");
  graph.def("optimal_paths", &optimal_paths, nb::arg("instances"), nb::arg("stop").none());
}

}  // namespace rhostar::bindings
