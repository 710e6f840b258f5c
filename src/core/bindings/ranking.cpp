#include "ranking.hpp"

#include "common.hpp"

namespace rhostar::bindings {

namespace {

// What all kernels here take: a range of instances and one table for all of them.
struct Range {
  Snapshots weights;
  Positions rows;
  Indices sources, goals;
  Table rho;

  bool fits(const Graph& graph) const {
    bool good = weights.shape(1) == static_cast<std::size_t>(graph.csr.m) &&
                (weights.stride(1) == 1 || weights.shape(1) <= 1) && sources.size() == rows.size() &&
                goals.size() == rows.size() && is_table(rho, static_cast<std::size_t>(graph.csr.n));
    for (std::size_t i = 0; good && i < rows.size(); ++i)
      good = rows(i) >= 0 && rows(i) < static_cast<std::int64_t>(weights.shape(0)) && graph.has_vertex(sources(i)) &&
             graph.has_vertex(goals(i));
    return good;
  }
};

// Calls f(batch, options, workspace) without the interpreter lock; false where the weights' type is not accepted.
template <class F>
bool with_batch(Graph& graph, const Range& range, bool reopen, std::int64_t budget, Stop* stop, F&& f) {
  PythonInterrupt interrupt(stop);
  Options options;
  options.reopen = reopen;
  if (budget >= 0) options.budget = budget;
  options.interrupt = &interrupt;
  const double* const table = range.rho.data();
  const std::vector<std::int32_t> first(range.rows.size());
  const bool known = with_weights(range.weights, [&](const auto* data) {
    using W = std::remove_cvref_t<decltype(*data)>;
    Unlocked unlocked;
    Lease workspace(graph.pool, graph.csr.n);
    const auto run = [&]<class Arcs>(const Arcs& arcs) {
      f(Batch<Arcs, W>{.arcs = arcs,
                       .weights = data,
                       .stride = range.weights.stride(0),
                       .rows = range.rows.data(),
                       .sources = range.sources.data(),
                       .goals = range.goals.data(),
                       .rho = &table,
                       .rho_of = first.data(),
                       .bound = nullptr,
                       .bound_of = nullptr,
                       .size = static_cast<std::int64_t>(range.rows.size())},
        options, *workspace);
    };
    if (graph.order) run(OrderedArcs<W>(*graph.order, data));
    else run(OutArcs<W>{graph.csr, data});
  });
  interrupt.raise_if_signalled();
  return known;
}

// True where there are no paths, or one of at least two vertices for each instance.
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

// (failure, offender, status, cost, expanded, lower)
nb::tuple rank(Graph& graph, bool greedy, Snapshots weights, Positions rows, Indices sources, Indices goals, Table rho,
               bool reopen, std::int64_t budget, Indices path, Positions path_end, Stop* stop) {
  const Range range{weights, rows, sources, goals, rho};
  if (!range.fits(graph) || !are_paths(graph, path, path_end, rows.size())) return nb::make_tuple(bad_input, -1);
  Paths paths;
  if (path.is_valid()) paths = {path.data(), path_end.data()};
  RankingOutcome all;
  const bool known = with_batch(graph, range, reopen, budget, stop, [&](const auto& batch, auto& options, auto& space) {
    all = greedy ? rank_batch<GreedyRule>(batch, options, paths, space)
                 : rank_batch<AStarRule>(batch, options, paths, space);
  });
  if (!known) return nb::make_tuple(bad_input, -1);
  return nb::make_tuple(static_cast<int>(all.failure), all.offender, to_numpy(std::move(all.status)),
                        to_numpy(std::move(all.cost)), to_numpy(std::move(all.expanded)),
                        to_numpy(std::move(all.lower)));
}

// (failure, offender, ends, vertices)
nb::tuple touched(Graph& graph, bool greedy, Snapshots weights, Positions rows, Indices sources, Indices goals,
                  Table rho, bool reopen, std::int64_t budget, Stop* stop) {
  const Range range{weights, rows, sources, goals, rho};
  if (!range.fits(graph)) return nb::make_tuple(bad_input, -1);
  TouchedOutcome all;
  const bool known = with_batch(graph, range, reopen, budget, stop, [&](const auto& batch, auto& options, auto& space) {
    all = greedy ? touch_batch<GreedyRule>(batch, options, space) : touch_batch<AStarRule>(batch, options, space);
  });
  if (!known) return nb::make_tuple(bad_input, -1);
  return nb::make_tuple(static_cast<int>(all.failure), all.offender, to_numpy(std::move(all.ends)),
                        to_numpy(std::move(all.vertices)));
}

// (failure, offender, within, expanded)
nb::tuple spend(Graph& graph, bool greedy, Snapshots weights, Positions rows, Indices sources, Indices goals, Table rho,
                bool reopen, std::int64_t budget, std::int64_t total, Stop* stop) {
  const Range range{weights, rows, sources, goals, rho};
  if (!range.fits(graph)) return nb::make_tuple(bad_input, -1);
  SpendingOutcome all;
  const bool known = with_batch(graph, range, reopen, budget, stop, [&](const auto& batch, auto& options, auto& space) {
    all = greedy ? spend_batch<GreedyRule>(batch, options, total, space)
                 : spend_batch<AStarRule>(batch, options, total, space);
  });
  if (!known) return nb::make_tuple(bad_input, -1);
  return nb::make_tuple(static_cast<int>(all.failure), all.offender, all.within, to_numpy(std::move(all.expanded)));
}

}  // namespace

void bind_ranking(nb::class_<Graph>& graph) {
  graph
      .def("rank", &rank, nb::arg("greedy"), nb::arg("weights").noconvert(), nb::arg("rows").noconvert(),
           nb::arg("sources").noconvert(), nb::arg("goals").noconvert(), nb::arg("rho").noconvert(), nb::arg("reopen"),
           nb::arg("budget"), nb::arg("path").noconvert().none(), nb::arg("path_end").noconvert().none(),
           nb::arg("stop").none())
      .def("touched", &touched, nb::arg("greedy"), nb::arg("weights").noconvert(), nb::arg("rows").noconvert(),
           nb::arg("sources").noconvert(), nb::arg("goals").noconvert(), nb::arg("rho").noconvert(), nb::arg("reopen"),
           nb::arg("budget"), nb::arg("stop").none())
      .def("spend", &spend, nb::arg("greedy"), nb::arg("weights").noconvert(), nb::arg("rows").noconvert(),
           nb::arg("sources").noconvert(), nb::arg("goals").noconvert(), nb::arg("rho").noconvert(), nb::arg("reopen"),
           nb::arg("budget"), nb::arg("total"), nb::arg("stop").none());
}

}  // namespace rhostar::bindings
