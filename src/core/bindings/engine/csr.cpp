#include "bindings/common.hpp"

namespace rhostar::bindings {

namespace {

// `done` if the arrays are a graph that the kernels may follow.
Ending check(Indices first_out, Indices head) {
  const Graph graph(std::move(first_out), std::move(head));
  return validate(graph.csr);
}

nb::object edge_index(const Graph& graph, Indices tails, Indices heads) {
  std::vector<std::int32_t> found(tails.size(), -1);
  for (std::size_t i = 0; i < tails.size() && i < heads.size(); ++i)
    if (graph.has_vertex(tails(i)) && graph.has_vertex(heads(i))) found[i] = find_arc(graph.csr, tails(i), heads(i));
  return to_numpy(std::move(found));
}

Transpose transpose(Graph& graph) { return graph.transposed(); }

// The arcs that begin or end at some vertices, each at least once.
nb::object incident(Graph& graph, const Indices& vertices) {
  const Transpose& against = graph.transposed();
  std::vector<std::int64_t> found;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const std::int32_t v = vertices(i);
    if (!graph.has_vertex(v)) throw nb::value_error("not a vertex");
    for (std::int32_t arc = graph.csr.first_out[v]; arc < graph.csr.first_out[v + 1]; ++arc) found.push_back(arc);
    for (std::int32_t arc = against.first_out[v]; arc < against.first_out[v + 1]; ++arc)
      found.push_back(against.edge[arc]);
  }
  return to_numpy(std::move(found));
}

// Chooses an order that keeps neighbors together, unless the user's own is nearly as good; true if one was chosen.
bool rearrange(Graph& graph, Coordinates coordinates, double least_gain) {
  const Csr csr = graph.csr;
  const double own = scatter(csr);
  if (own - best_scatter < least_gain) return false;
  std::vector<std::int32_t> outer =
      coordinates.is_valid() ? hilbert_order(coordinates.data(), csr.n) : breadth_first_order(csr);
  auto order = std::make_unique<Order>(csr, std::move(outer));
  if (own - scatter(order->view()) < least_gain) return false;
  graph.order = std::move(order);
  return true;
}

WeightsOutcome check_weights(Snapshots weights, Stop* stop) {
  WeightsOutcome all;
  PythonInterrupt interrupt(stop);
  const bool known = with_weights(weights, [&](const auto* data) {
    Unlocked unlocked;
    all = check_rows(data, weights.stride(0), static_cast<std::int64_t>(weights.shape(0)),
                     static_cast<std::int64_t>(weights.shape(1)), interrupt);
  });
  interrupt.raise_if_signalled();
  return known ? std::move(all) : bad_input<WeightsOutcome>();
}

// For each vertex, 1 if `goal` can be reached from it; without weights, over all arcs.
nb::object reaches(Graph& graph, Row weights, std::int32_t goal) {
  const Transpose& transpose = graph.transposed();
  std::vector<std::uint8_t> reached(static_cast<std::size_t>(graph.csr.n));
  const auto search = [&](const auto* data) {
    Unlocked unlocked;
    reach(InArcs<std::remove_cvref_t<decltype(*data)>>{transpose.view(), transpose.edge.data(), data}, goal,
          reached.data());
  };
  if (!graph.has_vertex(goal)) throw nb::index_error("goal");
  if (!weights.is_valid()) search(static_cast<const double*>(nullptr));
  else if (static_cast<std::int32_t>(weights.size()) != graph.csr.m || !with_weights(weights, search))
    throw nb::type_error("weights");
  return to_numpy(std::move(reached));
}

}  // namespace

void bind_csr(nb::module_& module, GraphClass& graph) {
  auto checked = bind_result<WeightsOutcome>(module, "WeightsOutcome");
  bind_array<&WeightsOutcome::absent>(checked, "absent");
  nb::class_<Transpose> transposed(module, "Transpose");
  bind_array<&Transpose::first_out>(transposed, "first_out");
  bind_array<&Transpose::head>(transposed, "head");
  bind_array<&Transpose::edge>(transposed, "edge");
  module.def("check", &check, nb::arg("first_out").noconvert(), nb::arg("head").noconvert());
  module.def("check_weights", &check_weights, nb::arg("weights").noconvert(), nb::arg("stop").none());
  graph.def(nb::init<Indices, Indices>(), nb::arg("first_out").noconvert(), nb::arg("head").noconvert())
      .def("edge_index", &edge_index, nb::arg("tails").noconvert(), nb::arg("heads").noconvert())
      .def("transpose", &transpose)
      .def("incident", &incident, nb::arg("vertices").noconvert())
      .def("rearrange", &rearrange, nb::arg("coordinates").noconvert().none(), nb::arg("least_gain"))
      .def_prop_ro("rearranged", [](const Graph& self) { return static_cast<bool>(self.order); })
      .def("reaches", &reaches, nb::arg("weights").noconvert().none(), nb::arg("goal"))
      .def_prop_ro_static("bytes_per_vertex", [](nb::handle) { return Workspace::bytes_per_vertex; })
      // For the test of the wrap-around: puts the idle workspace close to its last generation.
      .def("age_workspace", [](Graph& self, std::uint32_t generation) {
        Lease lease(self.pool, self.csr.n);
        (*lease).age(generation);
      });
}

}  // namespace rhostar::bindings
