// Hierarchies: which arcs there are, customizing, and queries between two vertices.
#include <nanobind/stl/shared_ptr.h>

#include <mutex>
#include <shared_mutex>

#include "bindings/common.hpp"
#include "hierarchy/many.hpp"
#include "hierarchy/query.hpp"

namespace rhostar::bindings {

namespace {

// What is made once for each graph, with the arrays that it reads.
struct Hierarchy {
  Indices first_out, head, vertex, begin, list_first, list;
  Topology topology;

  // Costs that are no longer in use: fresh memory would have to be filled with zeros by the system first.
  std::unique_ptr<Costs> take_costs() {
    {
      const std::lock_guard lock(mutex_);
      if (!spare_.empty()) {
        auto found = std::move(spare_.back());
        spare_.pop_back();
        return found;
      }
    }
    return std::make_unique<Costs>(static_cast<std::size_t>(topology.graph.m),
                                   static_cast<std::size_t>(topology.skeleton.arcs()));
  }
  void give_back(std::unique_ptr<Costs> costs) {
    const std::lock_guard lock(mutex_);
    if (spare_.size() < 2) spare_.push_back(std::move(costs));
  }
  std::unique_ptr<Lanes> take_lanes() {
    {
      const std::lock_guard lock(mutex_);
      if (!lanes_.empty()) {
        auto found = std::move(lanes_.back());
        lanes_.pop_back();
        return found;
      }
    }
    return std::make_unique<Lanes>(topology.graph.n);
  }
  void give_back(std::unique_ptr<Lanes> lanes) {
    const std::lock_guard lock(mutex_);
    if (lanes_.size() < 32) lanes_.push_back(std::move(lanes));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Costs>> spare_;
  std::vector<std::unique_ptr<Lanes>> lanes_;
};

SkeletonParts skeleton_parts(Graph& graph, Indices order, std::int64_t most, Stop* stop) {
  std::vector<bool> taken(static_cast<std::size_t>(graph.csr.n));
  bool fits = order.size() == taken.size();
  for (std::size_t i = 0; fits && i < order.size(); ++i) {
    fits = graph.has_vertex(order(i)) && !taken[static_cast<std::size_t>(order(i))];
    if (fits) taken[static_cast<std::size_t>(order(i))] = true;
  }
  if (!fits) return bad_input<SkeletonParts>();
  SkeletonParts out;
  PythonInterrupt interrupt(stop);
  {
    Unlocked unlocked;
    out = make_skeleton(Neighbors(graph.csr), {order.data(), order.data() + order.size()}, most, interrupt);
  }
  interrupt.raise_if_signalled();
  return out;
}

// Null if the parts are not those of a hierarchy of this graph.
std::shared_ptr<Hierarchy> open_hierarchy(const Graph& graph, Indices vertex, Indices begin, Indices list_first,
                                          Indices list) {
  auto made = std::make_shared<Hierarchy>();
  made->first_out = graph.first_out;
  made->head = graph.head;
  made->vertex = std::move(vertex);
  made->begin = std::move(begin);
  made->list_first = std::move(list_first);
  made->list = std::move(list);
  const auto span = [](const Indices& array) { return std::span(array.data(), array.size()); };
  Unlocked unlocked;
  Topology& topology = made->topology;
  topology.graph = graph.csr;
  Skeleton& skeleton = topology.skeleton;
  skeleton.vertex = span(made->vertex);
  skeleton.begin = span(made->begin);
  skeleton.list_first = span(made->list_first);
  skeleton.list = span(made->list);
  return topology.open() ? made : nullptr;
}

// One set of weights. Queries read it, and updates in place write it.
struct Customization {
  Ending ending;
  std::shared_ptr<Hierarchy> hierarchy;
  std::unique_ptr<Costs> costs;
  mutable std::shared_mutex mutex;

  Customization() = default;
  Customization(const Customization&) = delete;
  Customization& operator=(const Customization&) = delete;
  ~Customization() {
    if (costs) hierarchy->give_back(std::move(costs));
  }
  Customized view() const { return {hierarchy->topology, costs->weight.data(), costs->length.data()}; }
};

std::shared_ptr<Customization> customize_for(const std::shared_ptr<Hierarchy>& hierarchy, Row weights, Stop* stop) {
  auto made = std::make_shared<Customization>();
  const Topology& topology = hierarchy->topology;
  made->ending.status = Status::bad_input;
  if (weights.size() != static_cast<std::size_t>(topology.graph.m)) return made;
  PythonInterrupt interrupt(stop);
  with_weights(weights, [&](const auto* data) {
    Unlocked unlocked;
    made->hierarchy = hierarchy;
    made->costs = hierarchy->take_costs();
    Costs& costs = *made->costs;
    made->ending = take_weights(data, topology.graph, costs.weight.data());
    if (made->ending.status == Status::done)
      made->ending =
          customize::Pass(topology.skeleton, topology.plan, costs.length.data()).run(costs.weight.data(), interrupt);
  });
  interrupt.raise_if_signalled();
  return made;
}

// For as long as it lives, nobody writes to the customization, and it has a set of lanes.
class Reading {
 public:
  explicit Reading(const Customization& on)
      : hierarchy_(*on.hierarchy), lock_(on.mutex), view_(on.view()), lanes_(hierarchy_.take_lanes()) {}
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  ~Reading() { hierarchy_.give_back(std::move(lanes_)); }
  const Customized& view() const { return view_; }
  Lanes& lanes() { return *lanes_; }

 private:
  Hierarchy& hierarchy_;
  std::shared_lock<std::shared_mutex> lock_;
  Customized view_;
  std::unique_ptr<Lanes> lanes_;
};

struct IndexPath {
  Ending ending;
  double cost = no_way;  // NaN for arguments that are not vertices
  std::vector<std::int32_t> vertices, edges;
};

bool are_vertices(const Customization& on, std::int64_t s, std::int64_t t) {
  const std::int64_t n = on.hierarchy->topology.graph.n;
  return 0 <= s && s < n && 0 <= t && t < n;
}

// NaN for arguments that are not vertices.
double distance(const Customization& on, std::int32_t s, std::int32_t t) {
  if (!are_vertices(on, s, t)) return std::numeric_limits<double>::quiet_NaN();
  Reading reading(on);
  return Query(reading.view(), reading.lanes()).distance(s, t);
}

IndexPath path(const Customization& on, std::int32_t s, std::int32_t t) {
  IndexPath out;
  if (!are_vertices(on, s, t)) {
    out.ending.status = Status::bad_input;
    out.cost = std::numeric_limits<double>::quiet_NaN();
    return out;
  }
  Reading reading(on);
  if (!Query(reading.view(), reading.lanes()).path(s, t, out.cost, out.vertices, out.edges))
    return bad_input<IndexPath>();
  return out;
}

struct IndexPaths {
  Ending ending;
  std::vector<double> cost;
  std::vector<std::int64_t> path_end, edge_end;  // where the vertices and edges of each path end
  std::vector<std::int32_t> vertices, edges;
};

// From sources[i] to targets[i].
IndexPaths paths(const Customization& on, Indices sources, Indices targets, Stop* stop) {
  if (sources.size() != targets.size()) return bad_input<IndexPaths>();
  IndexPaths out;
  PythonInterrupt interrupt(stop);
  {
    Unlocked unlocked;
    Reading reading(on);
    Query query(reading.view(), reading.lanes());
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (!are_vertices(on, sources(i), targets(i))) return bad_input<IndexPaths>();
      if (interrupt.requested()) {
        out.ending = {.status = Status::stopped};
        break;
      }
      double cost = no_way;
      if (!query.path(sources(i), targets(i), cost, out.vertices, out.edges)) return bad_input<IndexPaths>();
      out.cost.push_back(cost);
      out.path_end.push_back(static_cast<std::int64_t>(out.vertices.size()));
      out.edge_end.push_back(static_cast<std::int64_t>(out.edges.size()));
    }
  }
  interrupt.raise_if_signalled();
  return out;
}

struct IndexDistances {
  Ending ending;
  std::vector<double> cost;
};

bool are_vertices(const Customization& on, const Indices& some) {
  const std::int32_t n = on.hierarchy->topology.graph.n;
  return std::all_of(some.data(), some.data() + some.size(), [n](std::int32_t v) { return 0 <= v && v < n; });
}

// Without `many`, of all vertices. Against the edges: from each of them to `one`.
IndexDistances distances(const Customization& on, std::int32_t one, Indices many, bool against, double most,
                         Stop* stop) {
  if (!are_vertices(on, one, one) || (many.is_valid() && !are_vertices(on, many))) return bad_input<IndexDistances>();
  IndexDistances out;
  PythonInterrupt interrupt(stop);
  {
    Unlocked unlocked;
    Reading reading(on);
    const auto sweep = [&](auto each) {
      if (!many.is_valid()) {
        out.cost.resize(static_cast<std::size_t>(on.hierarchy->topology.graph.n));
        out.ending = each.run_all(one, interrupt, out.cost.data());
      } else {
        out.cost.resize(many.size());
        out.ending = each.run(one, many.data(), static_cast<std::int64_t>(many.size()), interrupt, out.cost.data());
      }
    };
    if (against) sweep(Sweep<1>(reading.view(), reading.lanes(), most));
    else sweep(Sweep<0>(reading.view(), reading.lanes(), most));
  }
  interrupt.raise_if_signalled();
  return out;
}

// Row by row.
IndexDistances matrix(const Customization& on, Indices sources, Indices targets, Stop* stop) {
  if (!are_vertices(on, sources) || !are_vertices(on, targets)) return bad_input<IndexDistances>();
  constexpr std::size_t most = 4096;  // sources and targets that are taken together
  IndexDistances out;
  PythonInterrupt interrupt(stop);
  {
    Unlocked unlocked;
    Reading reading(on);
    out.cost.resize(sources.size() * targets.size());
    for (std::size_t i = 0; i < sources.size() && out.ending.status == Status::done; i += most)
      for (std::size_t j = 0; j < targets.size() && out.ending.status == Status::done; j += most)
        out.ending =
            Matrix(reading.view(), reading.lanes())
                .run(sources.data() + i, static_cast<std::int64_t>(std::min(most, sources.size() - i)),
                     targets.data() + j, static_cast<std::int64_t>(std::min(most, targets.size() - j)),
                     static_cast<std::int64_t>(targets.size()), interrupt, out.cost.data() + i * targets.size() + j);
  }
  interrupt.raise_if_signalled();
  return out;
}

}  // namespace

void bind_hierarchy(nb::module_& module, GraphClass& graph) {
  auto parts = bind_result<SkeletonParts>(module, "SkeletonParts");
  bind_array<&SkeletonParts::vertex>(parts, "vertex");
  bind_array<&SkeletonParts::begin>(parts, "begin");
  bind_array<&SkeletonParts::list_first>(parts, "list_first");
  bind_array<&SkeletonParts::list>(parts, "list");
  auto found = bind_result<IndexPath>(module, "IndexPath");
  found.def_ro("cost", &IndexPath::cost);
  bind_array<&IndexPath::vertices>(found, "vertices");
  bind_array<&IndexPath::edges>(found, "edges");
  auto many = bind_result<IndexPaths>(module, "IndexPaths");
  bind_array<&IndexPaths::cost>(many, "cost");
  bind_array<&IndexPaths::path_end>(many, "path_end");
  bind_array<&IndexPaths::edge_end>(many, "edge_end");
  bind_array<&IndexPaths::vertices>(many, "vertices");
  bind_array<&IndexPaths::edges>(many, "edges");
  auto costs = bind_result<IndexDistances>(module, "IndexDistances");
  bind_array<&IndexDistances::cost>(costs, "cost");
  bind_result<Customization>(module, "Customization")
      .def("distances", &distances, nb::arg("one"), nb::arg("many").noconvert().none(), nb::arg("against"),
           nb::arg("most"), nb::arg("stop").none())
      .def("matrix", &matrix, nb::arg("sources").noconvert(), nb::arg("targets").noconvert(), nb::arg("stop").none())
      .def("distance", &distance, nb::arg("source"), nb::arg("target"))
      .def("paths", &paths, nb::arg("sources").noconvert(), nb::arg("targets").noconvert(), nb::arg("stop").none())
      .def("path", &path, nb::arg("source"), nb::arg("target"));
  nb::class_<Hierarchy>(module, "Hierarchy")
      .def_prop_ro("arcs", [](const Hierarchy& self) { return self.topology.skeleton.arcs(); })
      .def("customize", &customize_for, nb::arg("weights").noconvert(), nb::arg("stop").none());
  graph.def("skeleton_parts", &skeleton_parts, nb::arg("order").noconvert(), nb::arg("most"), nb::arg("stop").none())
      .def("open_hierarchy", &open_hierarchy, nb::arg("vertex").noconvert(), nb::arg("begin").noconvert(),
           nb::arg("list_first").noconvert(), nb::arg("list").noconvert());
}

}  // namespace rhostar::bindings
