#include "learning/ranking.hpp"

#include "bindings/engine/instances.hpp"

namespace rhostar::bindings {

namespace {

// True if there are no paths, or one of at least two vertices for each instance.
bool are_paths(const Graph& graph, const Indices& vertices, const Positions& ends, std::size_t size) {
  if (!vertices.is_valid() || !ends.is_valid()) return vertices.is_valid() == ends.is_valid();
  if (ends.size() != size) return false;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < size; begin = ends(i), ++i)
    if (ends(i) < begin + 2 || ends(i) > static_cast<std::int64_t>(vertices.size())) return false;
  for (std::size_t i = 0; i < vertices.size(); ++i)
    if (!graph.has_vertex(vertices(i))) return false;
  return true;
}

RankingOutcome rank(Graph& graph, const Instances& instances, const SearchOptions& how, Table rho, Indices path,
                    Positions path_end, Stop* stop) {
  if (!are_paths(graph, path, path_end, instances.size())) return bad_input<RankingOutcome>();
  Paths paths;
  if (path.is_valid()) paths = {path.data(), path_end.data()};
  return with_batch<RankingOutcome>(graph, instances, how, rho, stop,
                                    [&]<class Rule>(const auto& batch, const Options& options, Workspace& workspace) {
                                      return rank_batch<Rule>(batch, options, paths, workspace);
                                    });
}

TouchedOutcome touched(Graph& graph, const Instances& instances, const SearchOptions& how, Table rho, Stop* stop) {
  return with_batch<TouchedOutcome>(graph, instances, how, rho, stop,
                                    []<class Rule>(const auto& batch, const Options& options, Workspace& workspace) {
                                      return touch_batch<Rule>(batch, options, workspace);
                                    });
}

SpendingOutcome spend(Graph& graph, const Instances& instances, const SearchOptions& how, Table rho, std::int64_t total,
                      Stop* stop) {
  return with_batch<SpendingOutcome>(graph, instances, how, rho, stop,
                                     [&]<class Rule>(const auto& batch, const Options& options, Workspace& workspace) {
                                       return spend_batch<Rule>(batch, options, total, workspace);
                                     });
}

}  // namespace

void bind_ranking(nb::module_& module, GraphClass& graph) {
  auto ranked = bind_result<RankingOutcome>(module, "RankingOutcome");
  bind_array<&RankingOutcome::status>(ranked, "status");
  bind_array<&RankingOutcome::cost>(ranked, "cost");
  bind_array<&RankingOutcome::expanded>(ranked, "expanded");
  bind_array<&RankingOutcome::lower>(ranked, "lower");
  auto read = bind_result<TouchedOutcome>(module, "TouchedOutcome");
  bind_array<&TouchedOutcome::ends>(read, "ends");
  bind_array<&TouchedOutcome::vertices>(read, "vertices");
  auto spent = bind_result<SpendingOutcome>(module, "SpendingOutcome");
  bind_array<&SpendingOutcome::expanded>(spent, "expanded");

  graph
      .def("rank", &rank, nb::arg("instances"), nb::arg("options"), nb::arg("rho").noconvert(),
           nb::arg("path").noconvert().none(), nb::arg("path_end").noconvert().none(), nb::arg("stop").none())
      .def("touched", &touched, nb::arg("instances"), nb::arg("options"), nb::arg("rho").noconvert(),
           nb::arg("stop").none())
      .def("spend", &spend, nb::arg("instances"), nb::arg("options"), nb::arg("rho").noconvert(), nb::arg("total"),
           nb::arg("stop").none());
}

}  // namespace rhostar::bindings
