#include "optimal_path.hpp"

#include "common.hpp"
#include "survey.hpp"

namespace rhostar::bindings {

namespace {

// (failure, offender, cost, end, edge)
nb::tuple optimal_paths(Graph& graph, Snapshots weights, Positions rows, Indices sources, Indices goals, Stop* stop) {
  const std::size_t size = rows.size();
  bool fits = weights.shape(1) == static_cast<std::size_t>(graph.csr.m) &&
              (weights.stride(1) == 1 || weights.shape(1) <= 1) && sources.size() == size && goals.size() == size;
  for (std::size_t i = 0; fits && i < size; ++i)
    fits = rows(i) >= 0 && rows(i) < static_cast<std::int64_t>(weights.shape(0)) && graph.has_vertex(sources(i)) &&
           graph.has_vertex(goals(i));
  if (!fits) return nb::make_tuple(bad_input, -1);
  const Transpose& transpose = graph.transposed();
  PathOutcome all;
  PythonInterrupt interrupt(stop);
  const bool known = with_weights(weights, [&](const auto* data) {
    using W = std::remove_cvref_t<decltype(*data)>;
    Unlocked unlocked;
    Lease workspace(graph.pool, graph.csr.n);
    const PathBatch<W> batch{.graph = graph.csr,
                             .against = InArcs<W>{transpose.view(), transpose.edge.data(), data},
                             .weights = data,
                             .stride = weights.stride(0),
                             .rows = rows.data(),
                             .sources = sources.data(),
                             .goals = goals.data(),
                             .size = static_cast<std::int64_t>(size)};
    all = rhostar::optimal_paths(batch, &interrupt, *workspace);
  });
  interrupt.raise_if_signalled();
  if (!known) return nb::make_tuple(bad_input, -1);
  return nb::make_tuple(static_cast<int>(all.failure), all.offender, to_numpy(std::move(all.cost)),
                        to_numpy(std::move(all.end)), to_numpy(std::move(all.edge)));
}

// (failure, row, edge, digests): the position in `rows` of the first snapshot that breaks a demand and the edge, or -1.
nb::tuple survey_rows(Snapshots weights, Positions rows, Table low, Table high, bool integers, bool absent_allowed,
                      Stop* stop) {
  const auto m = weights.shape(1);
  bool fits = (weights.stride(1) == 1 || m <= 1) && (low.size() == 1 || low.size() == m) &&
              (high.size() == 1 || high.size() == m);
  for (std::size_t i = 0; fits && i < rows.size(); ++i)
    fits = rows(i) >= 0 && rows(i) < static_cast<std::int64_t>(weights.shape(0));
  if (!fits) return nb::make_tuple(bad_input, -1, -1, nb::none());
  std::vector<std::uint64_t> digests(rows.size());
  std::int64_t row = -1, edge = -1;
  PythonInterrupt interrupt(stop);
  bool stopped = false;
  const bool known = with_weights(weights, [&](const auto* data) {
    Unlocked unlocked;
    const Demands demands{.low = low.data(),
                          .high = high.data(),
                          .low_stride = low.size() == 1 ? 0 : 1,
                          .high_stride = high.size() == 1 ? 0 : 1,
                          .integers = integers,
                          .absent_allowed = absent_allowed};
    for (std::size_t i = 0; i < rows.size() && !(stopped = interrupt.requested()); ++i) {
      const Survey found = survey(data + rows(i) * weights.stride(0), static_cast<std::int64_t>(m), demands);
      digests[i] = found.digest;
      if (found.first_bad >= 0) {
        row = static_cast<std::int64_t>(i);
        edge = found.first_bad;
        return;
      }
    }
  });
  interrupt.raise_if_signalled();
  if (!known) return nb::make_tuple(bad_input, -1, -1, nb::none());
  return nb::make_tuple(stopped ? static_cast<int>(Status::stopped) : 0, row, edge, to_numpy(std::move(digests)));
}

}  // namespace

void bind_optimal_path(nb::module_& module, nb::class_<Graph>& graph) {
  graph.def("optimal_paths", &optimal_paths, nb::arg("weights").noconvert(), nb::arg("rows").noconvert(),
            nb::arg("sources").noconvert(), nb::arg("goals").noconvert(), nb::arg("stop").none());
  module.def("survey_rows", &survey_rows, nb::arg("weights").noconvert(), nb::arg("rows").noconvert(),
             nb::arg("low").noconvert(), nb::arg("high").noconvert(), nb::arg("integers"), nb::arg("absent_allowed"),
             nb::arg("stop").none());
}

}  // namespace rhostar::bindings
