#include "learning/labels.hpp"

#include "bindings/common.hpp"

namespace rhostar::bindings {

namespace {

using Numbers = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Counts = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sizes = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Trees = nb::ndarray<std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr Ending misfit{.status = Status::bad_input};

// What all of these do: `reduce` is as for rhostar::label, and `with_arcs` calls what it is given with the arcs of a
// snapshot.
template <class WithArcs, class Reduce>
Ending label_with(Graph& graph, const bindings::Snapshots& weights, const Positions& rows, std::int64_t goal,
                  Stop* stop, WithArcs&& with_arcs, Reduce&& reduce) {
  if (!are_snapshots(graph, weights, rows) || !graph.has_vertex(goal)) return misfit;
  Ending ending;
  PythonInterrupt interrupt(stop);
  const bool known = with_weights(weights, [&](const auto* data) {
    with_arcs(data, [&]<class Arcs>(const Arcs& arcs) {
      Unlocked unlocked;
      Lease workspace(graph.pool, graph.csr.n);
      const rhostar::Snapshots<std::remove_cvref_t<decltype(*data)>, Arcs> snapshots{
          arcs, data, weights.stride(0), rows.data(), static_cast<std::int64_t>(rows.size())};
      ending = label(snapshots, static_cast<std::int32_t>(goal), &interrupt, *workspace, reduce);
    });
  });
  interrupt.raise_if_signalled();
  return known ? ending : misfit;
}

template <class Reduce>
Ending label_with(Graph& graph, const bindings::Snapshots& weights, const Positions& rows, std::int64_t goal,
                  Stop* stop, Reduce&& reduce) {
  const auto with_arcs = [&](const auto* data, auto&& f) { graph.with_arcs_against(data, f); };
  return label_with(graph, weights, rows, goal, stop, with_arcs, reduce);
}

Ending label_sums(Graph& graph, bindings::Snapshots weights, Positions rows, Positions times, std::int64_t goal,
                  Numbers sum, Counts count, Stop* stop) {
  const auto n = static_cast<std::size_t>(graph.csr.n);
  if (times.size() != rows.size() || sum.size() != n || count.size() != n) return misfit;
  const Sums sums{sum.data(), count.data()};
  return label_with(graph, weights, rows, goal, stop, [&](std::int64_t i, const auto&, auto distance) {
    sums.add(graph.csr.n, times.data()[i], distance);
  });
}

Ending label_least(Graph& graph, bindings::Snapshots weights, Positions rows, std::int64_t goal, Numbers least,
                   Stop* stop) {
  if (least.size() != static_cast<std::size_t>(graph.csr.n)) return misfit;
  double* const found = least.data();
  return label_with(graph, weights, rows, goal, stop, [&](std::int64_t, const auto&, auto distance) {
    for (std::int32_t v = 0; v < graph.csr.n; ++v) found[v] = std::min(found[v], distance(v));
  });
}

Ending label_rows(Graph& graph, bindings::Snapshots weights, Positions rows, std::int64_t goal, Matrix out,
                  Stop* stop) {
  const bool wide = out.dtype() == nb::dtype<double>();
  if (out.shape(0) != rows.size() || out.shape(1) != static_cast<std::size_t>(graph.csr.n) ||
      (!wide && out.dtype() != nb::dtype<float>()))
    return misfit;
  const auto fill = [&](auto* first) {
    return label_with(graph, weights, rows, goal, stop, [&](std::int64_t i, const auto&, auto distance) {
      auto* row = first + i * graph.csr.n;
      for (std::int32_t v = 0; v < graph.csr.n; ++v)
        row[v] = static_cast<std::remove_reference_t<decltype(*row)>>(distance(v));
    });
  };
  return wide ? fill(static_cast<double*>(out.data())) : fill(static_cast<float*>(out.data()));
}

// The starts of snapshot i are begin[i] to end[i] - 1 of (vertex, weight).
Ending label_trees(Graph& graph, bindings::Snapshots weights, Positions rows, std::int64_t goal, Positions begin,
                   Positions end, Indices vertex, Table weight, Trees edge, Sizes below, Stop* stop) {
  const auto n = static_cast<std::size_t>(graph.csr.n);
  bool fits = begin.size() == rows.size() && end.size() == rows.size() && vertex.size() == weight.size() &&
              edge.shape(0) == rows.size() && edge.shape(1) == n && below.shape(0) == rows.size() &&
              below.shape(1) == n;
  for (std::size_t i = 0; fits && i < rows.size(); ++i)
    fits = 0 <= begin(i) && begin(i) <= end(i) && end(i) <= static_cast<std::int64_t>(vertex.size());
  for (std::size_t i = 0; fits && i < vertex.size(); ++i) fits = graph.has_vertex(vertex(i));
  if (!fits) return misfit;
  TreeScratch scratch;
  // A tree depends on the user's order of the vertices.
  const auto with_arcs = [&]<class W>(const W* data, auto&& f) {
    f(InArcs<W>{graph.transposed().view(), graph.transposed().edge.data(), data});
  };
  return label_with(graph, weights, rows, goal, stop, with_arcs, [&](std::int64_t i, const auto& arcs, auto distance) {
    const Starts starts{vertex.data(), weight.data(), begin.data()[i], end.data()[i]};
    optimal_tree(arcs, static_cast<std::int32_t>(goal), distance, starts, scratch, edge.data() + i * graph.csr.n,
                 below.data() + i * graph.csr.n);
  });
}

}  // namespace

void bind_labels(GraphClass& graph) {
  graph
      .def("label_sums", &label_sums, nb::arg("weights").noconvert(), nb::arg("rows").noconvert(),
           nb::arg("times").noconvert(), nb::arg("goal"), nb::arg("sum").noconvert(), nb::arg("count").noconvert(),
           nb::arg("stop").none())
      .def("label_least", &label_least, nb::arg("weights").noconvert(), nb::arg("rows").noconvert(), nb::arg("goal"),
           nb::arg("least").noconvert(), nb::arg("stop").none())
      .def("label_rows", &label_rows, nb::arg("weights").noconvert(), nb::arg("rows").noconvert(), nb::arg("goal"),
           nb::arg("out").noconvert(), nb::arg("stop").none())
      .def("label_trees", &label_trees, nb::arg("weights").noconvert(), nb::arg("rows").noconvert(), nb::arg("goal"),
           nb::arg("begin").noconvert(), nb::arg("end").noconvert(), nb::arg("vertex").noconvert(),
           nb::arg("weight").noconvert(), nb::arg("edge").noconvert(), nb::arg("below").noconvert(),
           nb::arg("stop").none());
}

}  // namespace rhostar::bindings
