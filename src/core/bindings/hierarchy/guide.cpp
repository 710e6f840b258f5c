#include "hierarchy/guide.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include "bindings/common.hpp"
#include "bindings/hierarchy/hierarchy.hpp"

namespace rhostar::bindings {

namespace {

using Rows = nb::ndarray<const std::int32_t, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;

struct DissectionOutcome {
  Ending ending;
  std::vector<std::int32_t> order;
};

// Calls a function of Python with the share of vertices that have their place.
class Reporting final : public PythonInterrupt {
 public:
  Reporting(Stop* stop, nb::object call) : PythonInterrupt(stop), call_(std::move(call)) {}
  void watch(const Dissection& dissection, std::int32_t n) {
    dissection_ = &dissection;
    n_ = n;
  }
  bool report() override {
    if (call_.is_none() || !dissection_) return true;
    try {
      call_(n_ == 0 ? 1.0 : static_cast<double>(dissection_->placed()) / n_);
      return true;
    } catch (nb::python_error& error) {
      error.restore();
      return false;
    }
  }

 private:
  nb::object call_;
  const Dissection* dissection_ = nullptr;
  std::int32_t n_ = 0;
};

// The vertices in an order to contract them; without coordinates, steps from far vertices stand for them.
DissectionOutcome dissect(Graph& graph, Coordinates coordinates, nb::object report, Stop* stop) {
  if (coordinates.is_valid() && coordinates.shape(0) != static_cast<std::size_t>(graph.csr.n))
    return bad_input<DissectionOutcome>();
  DissectionOutcome out;
  Reporting interrupt(stop, std::move(report));
  bool reported = true;
  {
    std::optional<Unlocked> unlocked(std::in_place);
    const Neighbors near(graph.csr);
    std::vector<double> steps;
    if (!coordinates.is_valid()) steps = coordinates_by_steps(near);
    Dissection dissection(near, coordinates.is_valid() ? coordinates.data() : steps.data(), interrupt);
    interrupt.watch(dissection, graph.csr.n);
    out.ending = dissection.run();
    unlocked.reset();
    interrupt.raise_if_signalled();
    if (out.ending.status == Status::done) reported = interrupt.report();
    out.order = std::move(dissection.order());
  }
  if (!reported) nb::raise_python_error();
  return out;
}

// One weight per edge, in the core's types.
nb::object cut(const Graph& graph, const Row& weights) {
  std::vector<double> found;
  if (weights.size() != static_cast<std::size_t>(graph.csr.m) ||
      !with_weights(weights, [&](const auto* data) { found = cut_weights(data, graph.csr); }))
    throw nb::value_error("weights do not fit the graph");
  return to_numpy(std::move(found));
}

// What guides read of the hierarchy, which the arrays keep alive: the rank of each vertex, three numbers for the row of
// each rank, and the lists.
nb::object rows(const Customization& on) {
  Hierarchy& hierarchy = *on.hierarchy;
  const Skeleton& skeleton = hierarchy.topology.skeleton;
  const std::vector<GuideRow>& rows = hierarchy.guide_rows.get(skeleton).of;
  const auto* const numbers = reinterpret_cast<const std::int32_t*>(rows.data());
  using Numbers = nb::ndarray<nb::numpy, const std::int32_t>;
  const nb::object owner = nb::cast(on.hierarchy);
  return nb::make_tuple(Numbers(skeleton.rank.data(), {skeleton.rank.size()}, owner),
                        Numbers(numbers, {rows.size(), 3}, owner),
                        Numbers(skeleton.list.data(), {skeleton.list.size()}, owner));
}

template <class Real>
nb::object lengths_as(const Customization& on) {
  const Topology& topology = on.hierarchy->topology;
  std::vector<Real> up, down;
  std::vector<double> weights;
  std::int64_t roundings = 0;
  double sum = 0.0, most = 0.0;
  {
    Unlocked unlocked;
    const std::shared_lock lock(on.mutex);
    const Pair* const length = on.costs->length.data();
    const double* const weight = on.costs->weight.data();
    up.resize(on.costs->length.size());
    down.resize(up.size());
    for (std::size_t a = 0; a < up.size(); ++a) {
      up[a] = at_most<Real>(length[a][0]);
      down[a] = at_most<Real>(length[a][1]);
    }
    weights.assign(weight, weight + topology.graph.m);
    if (!has_only_multiples(weight, topology.graph.m, exact_unit(weight, topology.graph)))
      roundings = most_roundings(topology.skeleton);
    for (std::int32_t e = 0; e < topology.graph.m; ++e)
      if (weight[e] < no_way) {
        sum += weight[e];
        most = std::max(most, weight[e]);
      }
  }
  // No path has more than n - 1 edges, and none visits an edge twice.
  const double beyond = std::min(sum, most * (topology.graph.n - 1));
  return nb::make_tuple(to_numpy(std::move(up)), to_numpy(std::move(down)), roundings, beyond,
                        to_numpy(std::move(weights)));
}

// Lengths up and down; how often a value may be rounded; a number that no distance exceeds; and the weights.
nb::object lengths(const Customization& on, bool single) {
  return single ? lengths_as<float>(on) : lengths_as<double>(on);
}

// The edges into each vertex: where they begin, and the edges; and usual weights by edge.
using Entering = std::optional<std::tuple<Indices, Indices, Table>>;

template <class Real>
nb::object potential_of(const Indices& rank, const Rows& rows, const Indices& list, const Row& up, const Row& down,
                        std::int64_t roundings, double beyond, double scale, const Entering& entering) {
  static_assert(sizeof(GuideRow) == 3 * sizeof(std::int32_t));
  const GuideView<Real> view{.n = static_cast<std::int32_t>(rank.size()),
                             .rank = rank.data(),
                             .rows = reinterpret_cast<const GuideRow*>(rows.data()),
                             .list = list.data(),
                             .list_size = static_cast<std::int64_t>(list.size()),
                             .up = static_cast<const Real*>(up.data()),
                             .down = static_cast<const Real*>(down.data()),
                             .arcs = static_cast<std::int64_t>(up.size())};
  if (!is_aligned(view.up) || !is_aligned(view.down) || !view.is_good()) return nb::none();
  Entries entries;
  if (entering) {
    const auto& [first, edge, usual] = *entering;
    if (first.size() != rank.size() + 1 || usual.size() != edge.size()) return nb::none();
    entries = {first.data(), edge.data(), usual.data()};
    if (!entries.is_good(view.n, static_cast<std::int64_t>(edge.size()))) return nb::none();
  }
  return nb::cast(sharing(std::make_unique<HierarchyPotential<Real>>(view, roundings, beyond, scale, entries), rank,
                          rows, list, up, down, entering));
}

// None if the arrays do not fit each other.
nb::object hierarchy_potential(const Indices& rank, const Rows& rows, const Indices& list, const Row& up,
                               const Row& down, std::int64_t roundings, double beyond, double scale,
                               const Entering& entering) {
  if (rows.shape(0) != rank.size() || up.size() != down.size() || up.dtype() != down.dtype()) return nb::none();
  if (up.dtype() == nb::dtype<float>())
    return potential_of<float>(rank, rows, list, up, down, roundings, beyond, scale, entering);
  if (up.dtype() == nb::dtype<double>())
    return potential_of<double>(rank, rows, list, up, down, roundings, beyond, scale, entering);
  return nb::none();
}

}  // namespace

void bind_guide(nb::module_& module, GraphClass& graph) {
  auto dissected = bind_result<DissectionOutcome>(module, "Dissection");
  bind_array<&DissectionOutcome::order>(dissected, "order");
  graph
      .def("dissect", &dissect, nb::arg("coordinates").noconvert().none(), nb::arg("report").none(),
           nb::arg("stop").none())
      .def("cut", &cut, nb::arg("weights").noconvert());
  module.def("guide_rows", &rows, nb::arg("customized"));
  module.def("guide_lengths", &lengths, nb::arg("customized"), nb::arg("single"));
  module.def("hierarchy_potential", &hierarchy_potential, nb::arg("rank").noconvert(), nb::arg("rows").noconvert(),
             nb::arg("list").noconvert(), nb::arg("up").noconvert(), nb::arg("down").noconvert(), nb::arg("roundings"),
             nb::arg("beyond"), nb::arg("scale"), nb::arg("entering").none());
}

}  // namespace rhostar::bindings
