#include "hierarchy/guide.hpp"

#include "bindings/common.hpp"

namespace rhostar::bindings {

namespace {

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct DissectionOutcome {
  Ending ending;
  std::vector<std::int32_t> order;
};

// The vertices in an order to contract them; without coordinates, steps from far vertices stand for them.
DissectionOutcome dissect(Graph& graph, Coordinates coordinates, Stop* stop) {
  if (coordinates.is_valid() && coordinates.shape(0) != static_cast<std::size_t>(graph.csr.n))
    return bad_input<DissectionOutcome>();
  DissectionOutcome out;
  PythonInterrupt interrupt(stop);
  {
    Unlocked unlocked;
    const Neighbors near(graph.csr);
    std::vector<double> steps;
    if (!coordinates.is_valid()) steps = coordinates_by_steps(near);
    Dissection dissection(near, coordinates.is_valid() ? coordinates.data() : steps.data(), interrupt);
    out.ending = dissection.run();
    out.order = std::move(dissection.order());
  }
  interrupt.raise_if_signalled();
  return out;
}

PlainSkeletonOutcome skeleton(Graph& graph, Indices order, std::int64_t most, Stop* stop) {
  std::vector<bool> taken(static_cast<std::size_t>(graph.csr.n));
  bool fits = order.size() == taken.size();
  for (std::size_t i = 0; fits && i < order.size(); ++i) {
    fits = graph.has_vertex(order(i)) && !taken[static_cast<std::size_t>(order(i))];
    if (fits) taken[static_cast<std::size_t>(order(i))] = true;
  }
  if (!fits) return bad_input<PlainSkeletonOutcome>();
  PlainSkeletonOutcome out;
  PythonInterrupt interrupt(stop);
  {
    Unlocked unlocked;
    const std::vector<std::int32_t> ranks(order.data(), order.data() + order.size());
    out = make_plain_skeleton(Neighbors(graph.csr), ranks, most, interrupt);
  }
  interrupt.raise_if_signalled();
  return out;
}

// The weights are good ones: at least 0 and not NaN.
HierarchyArrays build(const PlainSkeletonOutcome& of, const Graph& graph, Row weights, bool single, Stop* stop) {
  if (of.skeleton.size() != graph.csr.n || weights.size() != static_cast<std::size_t>(graph.csr.m))
    return bad_input<HierarchyArrays>();
  HierarchyArrays out;
  PythonInterrupt interrupt(stop);
  const bool known = with_weights(weights, [&](const auto* data) {
    Unlocked unlocked;
    out = single ? build_hierarchy<float>(graph.csr, data, of.skeleton, interrupt)
                 : build_hierarchy<double>(graph.csr, data, of.skeleton, interrupt);
  });
  interrupt.raise_if_signalled();
  return known ? std::move(out) : bad_input<HierarchyArrays>();
}

template <class Real>
std::unique_ptr<const Potential> potential_of(HierarchyView view, std::size_t up, std::size_t down,
                                              std::int64_t roundings, double beyond, double scale) {
  view.ups = static_cast<std::int64_t>(up / Arc<Real>::bytes);
  view.downs = static_cast<std::int64_t>(down / Arc<Real>::bytes);
  if (up % Arc<Real>::bytes || down % Arc<Real>::bytes || !is_hierarchy<Real>(view)) return nullptr;
  return std::make_unique<HierarchyPotential<Real>>(view, roundings, beyond, scale);
}

// None if the arrays do not fit each other.
nb::object hierarchy_potential(const Indices& place, const Indices& parent, const Indices& first_up,
                               const Indices& first_down, const Bytes& up, const Bytes& down, bool single,
                               std::int64_t roundings, double beyond, double scale) {
  const std::size_t n = place.size();
  if (parent.size() != n || first_up.size() != n + 1 || first_down.size() != n + 1) return nb::none();
  const HierarchyView view{.n = static_cast<std::int32_t>(n),
                           .place = place.data(),
                           .parent = parent.data(),
                           .first_up = first_up.data(),
                           .first_down = first_down.data(),
                           .up = up.data(),
                           .down = down.data(),
                           .ups = 0,
                           .downs = 0};
  auto potential = single ? potential_of<float>(view, up.size(), down.size(), roundings, beyond, scale)
                          : potential_of<double>(view, up.size(), down.size(), roundings, beyond, scale);
  if (!potential) return nb::none();
  return nb::cast(sharing(std::move(potential), place, parent, first_up, first_down, up, down));
}

}  // namespace

void bind_guide(nb::module_& module, GraphClass& graph) {
  auto dissected = bind_result<DissectionOutcome>(module, "Dissection");
  bind_array<&DissectionOutcome::order>(dissected, "order");
  bind_result<PlainSkeletonOutcome>(module, "Skeleton")
      .def_prop_ro("arcs", [](const PlainSkeletonOutcome& self) { return self.skeleton.above.size(); })
      .def("build", &build, nb::arg("graph"), nb::arg("weights").noconvert(), nb::arg("single"),
           nb::arg("stop").none());
  auto arrays = bind_result<HierarchyArrays>(module, "HierarchyArrays");
  bind_array<&HierarchyArrays::place>(arrays, "place");
  bind_array<&HierarchyArrays::parent>(arrays, "parent");
  bind_array<&HierarchyArrays::first_up>(arrays, "first_up");
  bind_array<&HierarchyArrays::first_down>(arrays, "first_down");
  bind_array<&HierarchyArrays::up>(arrays, "up");
  bind_array<&HierarchyArrays::down>(arrays, "down");
  arrays.def_ro("roundings", &HierarchyArrays::roundings);
  graph.def("dissect", &dissect, nb::arg("coordinates").noconvert().none(), nb::arg("stop").none())
      .def("skeleton", &skeleton, nb::arg("order").noconvert(), nb::arg("most"), nb::arg("stop").none());
  module.def("hierarchy_potential", &hierarchy_potential, nb::arg("place").noconvert(), nb::arg("parent").noconvert(),
             nb::arg("first_up").noconvert(), nb::arg("first_down").noconvert(), nb::arg("up").noconvert(),
             nb::arg("down").noconvert(), nb::arg("single"), nb::arg("roundings"), nb::arg("beyond"), nb::arg("scale"));
}

}  // namespace rhostar::bindings
