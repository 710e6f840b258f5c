// Hierarchies: which arcs there are, customizing, and queries between two vertices.
#include "bindings/hierarchy/hierarchy.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings/common.hpp"
#include "hierarchy/many.hpp"
#include "hierarchy/nearest.hpp"
#include "hierarchy/query.hpp"
#include "hierarchy/update.hpp"

namespace rhostar::bindings {

namespace {

SkeletonParts skeleton_parts(Graph& graph, Indices order, std::int64_t most, std::int64_t most_pairs, Stop* stop) {
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
    out = make_skeleton(Neighbors(graph.csr), {order.data(), order.data() + order.size()}, most, interrupt, most_pairs);
    if (out.ending.status == Status::done) out.bytes = needed_bytes(out, graph.csr.m);
  }
  interrupt.raise_if_signalled();
  return out;
}

// What a file keeps: the parts of the skeleton, and what takes long to find again. Pairs are two numbers after each
// other.
nb::list hierarchy_parts(nb::handle_t<Hierarchy> self) {
  const Topology& topology = nb::inst_ptr<Hierarchy>(self)->topology;
  const auto& [skeleton, plan, below] = std::tie(topology.skeleton, topology.plan, topology.below);
  nb::list parts;
  const auto put = [&](const auto& values) {
    const auto* const data = reinterpret_cast<const std::int32_t*>(values.data());
    const std::size_t size = values.size() * sizeof(values[0]) / sizeof(std::int32_t);
    parts.append(nb::ndarray<nb::numpy, const std::int32_t, nb::ndim<1>>(data, {size}, self).cast());
  };
  put(skeleton.vertex), put(skeleton.begin), put(skeleton.list_first), put(skeleton.list);
  put(plan.edge), put(plan.targets), put(below.first_side), put(below.side), put(below.first_node), put(below.node);
  return parts;
}

// From the first four of these parts, or all. Null if they are not those of a hierarchy of this graph.
std::shared_ptr<Hierarchy> open_hierarchy(const Graph& graph, std::vector<Indices> parts) {
  if (parts.size() != 4 && parts.size() != 10) return nullptr;
  const bool saved = parts.size() == 10;
  for (const Indices& part : parts)
    if (!is_aligned(part.data())) return nullptr;
  auto made = std::make_shared<Hierarchy>();
  made->first_out = graph.first_out;
  made->head = graph.head;
  made->parts = std::move(parts);
  Unlocked unlocked;
  const auto part = [&]<class T>(std::size_t i, T) {
    const Indices& array = made->parts[i];
    return std::span(reinterpret_cast<const T*>(array.data()), array.size() * sizeof(std::int32_t) / sizeof(T));
  };
  Topology& topology = made->topology;
  topology.graph = graph.csr;
  topology.skeleton.vertex = part(0, 0);
  topology.skeleton.begin = part(1, 0);
  topology.skeleton.list_first = part(2, 0);
  topology.skeleton.list = part(3, 0);
  if (saved) {
    topology.plan.edge = Stored(part(4, 0));
    topology.plan.targets = Stored(part(5, 0));
    topology.below.first_side = Stored(part(6, 0));
    topology.below.side = Stored(part(7, Below::Sides{}));
    topology.below.first_node = Stored(part(8, 0));
    topology.below.node = Stored(part(9, Below::Entry{}));
  }
  return topology.open(saved) ? made : nullptr;
}

Ending customize_all(const Topology& topology, Costs& costs, Interrupt& interrupt) {
  return customize::Pass(topology, costs).run(interrupt);
}

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
    made->ending = take_weights(data, topology.graph, *made->costs);
    if (made->ending.status == Status::done) made->ending = customize_all(topology, *made->costs, interrupt);
  });
  interrupt.raise_if_signalled();
  return made;
}

// Follows the changes alone; false if that is more work than `most`. Less than 0: than customizing in full.
bool follow_changes(Hierarchy& hierarchy, Costs& costs, const EdgeWeights& fresh, std::int64_t most) {
  const Topology& topology = hierarchy.topology;
  auto changes = hierarchy.take_changes();
  Update update(topology, costs, *changes);
  const bool done = update.run(fresh, most < 0 ? most_update_work(topology) : most);
  if (done) {
    const std::uint64_t before = costs.version;
    costs.renew();
    if (16 * changes->entries.size() < costs.length.size()) {
      try {
        for (const auto& [edge, before] : changes->edges) costs.edges.push_back(edge);
        for (const auto& entry : changes->entries) costs.arcs.push_back(entry.arc);
        costs.made_from = before;
        costs.top_differs = update.top_differs();
      } catch (const std::bad_alloc&) {  // the costs are right, but nobody is told from which ones they differ little
      }
    }
  }
  hierarchy.give_back(std::move(changes));
  return done;
}

// New costs with some weights replaced, customized in full.
Ending customize_anew(Hierarchy& hierarchy, const Costs& base, const EdgeWeights& fresh, Costs& costs,
                      Interrupt& interrupt) {
  std::copy(base.weight.data(), base.weight.data() + base.weight.size(), costs.weight.data());
  for (std::int64_t i = 0; i < fresh.count; ++i) costs.weight.data()[fresh.edge[i]] = fresh.weight[i] + 0.0;
  return customize_all(hierarchy.topology, costs, interrupt);
}

EdgeWeights edge_weights(const Positions& edges, const Table& weights) {
  return {edges.data(), weights.data(), static_cast<std::int64_t>(edges.size())};
}

Ending update_in_place(Customization& on, Positions edges, Table weights, bool whole, std::int64_t most, Stop* stop) {
  if (edges.size() != weights.size() || !is_aligned(edges.data()) || !is_aligned(weights.data()))
    return {.status = Status::bad_input};
  Hierarchy& hierarchy = *on.hierarchy;
  const Csr& graph = hierarchy.topology.graph;
  const EdgeWeights fresh = edge_weights(edges, weights);
  PythonInterrupt interrupt(stop);
  Ending ending;
  {
    Unlocked unlocked;
    const std::lock_guard alone(on.updating);
    ending = check_update(graph, *on.costs, fresh, whole);
    if (ending.status != Status::done) return ending;
    const bool large = on.costs->large || is_large(graph, fresh);
    bool done = false;
    {
      const std::unique_lock lock(on.mutex);
      done = follow_changes(hierarchy, *on.costs, fresh, most);
      if (done) on.costs->large = large;
    }
    if (!done) {  // beside the old lengths, which queries go on reading
      auto costs = hierarchy.take_costs();
      costs->large = large;
      ending = customize_anew(hierarchy, *on.costs, fresh, *costs, interrupt);
      if (ending.status == Status::done) {
        const std::unique_lock lock(on.mutex);
        std::swap(on.costs, costs);
      }
      hierarchy.give_back(std::move(costs));
    }
  }
  interrupt.raise_if_signalled();
  return ending;
}

std::shared_ptr<Customization> updated(const Customization& base, Positions edges, Table weights, bool whole,
                                       std::int64_t most, Stop* stop) {
  auto made = std::make_shared<Customization>();
  made->ending.status = Status::bad_input;
  if (edges.size() != weights.size() || !is_aligned(edges.data()) || !is_aligned(weights.data())) return made;
  made->hierarchy = base.hierarchy;
  Hierarchy& hierarchy = *base.hierarchy;
  const Csr& graph = hierarchy.topology.graph;
  const EdgeWeights fresh = edge_weights(edges, weights);
  PythonInterrupt interrupt(stop);
  {
    Unlocked unlocked;
    const std::shared_lock lock(base.mutex);
    made->ending = check_update(graph, *base.costs, fresh, whole);
    if (made->ending.status != Status::done) return made;
    // Those that the base was made from lack only its own changes, if nobody uses them any more.
    if ((made->costs = hierarchy.take_costs_of(base.costs->made_from))) {
      made->costs->catch_up(*base.costs, hierarchy.topology);
    } else {
      made->costs = hierarchy.take_costs();
      made->costs->copy(*base.costs);
    }
    Costs& costs = *made->costs;
    costs.version = base.costs->version;
    costs.large |= is_large(graph, fresh);
    if (!follow_changes(hierarchy, costs, fresh, most)) {
      costs.renew();
      made->ending = customize_anew(hierarchy, *base.costs, fresh, costs, interrupt);
    }
  }
  interrupt.raise_if_signalled();
  return made;
}

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
  Reading reading(on, Reading::Lock::with);
  return Query(reading.view(), reading.lanes()).distance(s, t);
}

IndexPath path(const Customization& on, std::int32_t s, std::int32_t t) {
  IndexPath out;
  if (!are_vertices(on, s, t)) {
    out.ending.status = Status::bad_input;
    out.cost = std::numeric_limits<double>::quiet_NaN();
    return out;
  }
  Reading reading(on, Reading::Lock::with);
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
    Reading reading(on, Reading::Lock::without);
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

bool are_vertices(const Hierarchy& hierarchy, const Indices& some) {
  const std::int32_t n = hierarchy.topology.graph.n;
  return std::all_of(some.data(), some.data() + some.size(), [n](std::int32_t v) { return 0 <= v && v < n; });
}

// Without `many`, of all vertices. Against the edges: from each of them to `one`.
IndexDistances distances(const Customization& on, std::int32_t one, Indices many, bool against, double most,
                         Stop* stop) {
  if (!are_vertices(on, one, one) || (many.is_valid() && !are_vertices(*on.hierarchy, many)))
    return bad_input<IndexDistances>();
  IndexDistances out;
  PythonInterrupt interrupt(stop);
  {
    Unlocked unlocked;
    Reading reading(on, Reading::Lock::without);
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
  if (!are_vertices(*on.hierarchy, sources) || !are_vertices(*on.hierarchy, targets))
    return bad_input<IndexDistances>();
  constexpr std::size_t most = 4096;  // sources and targets that are taken together
  IndexDistances out;
  PythonInterrupt interrupt(stop);
  {
    Unlocked unlocked;
    Reading reading(on, Reading::Lock::without);
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

struct IndexNearest {
  Ending ending;
  std::vector<std::int32_t> vertex;
  std::vector<double> cost;
};

// Goals of one hierarchy.
struct Goals {
  std::shared_ptr<Hierarchy> hierarchy;
  GoalTree tree;
};

// Null if one of them is not a vertex.
std::unique_ptr<Goals> goals_of(const std::shared_ptr<Hierarchy>& hierarchy, Indices many) {
  if (!are_vertices(*hierarchy, many)) return nullptr;
  Unlocked unlocked;
  GoalTree tree(hierarchy->topology.skeleton, many.data(), static_cast<std::int64_t>(many.size()));
  return std::make_unique<Goals>(hierarchy, std::move(tree));
}

// Against the edges: the nearest of those that lead to `one`.
IndexNearest nearest(const Customization& on, std::int32_t one, const Goals& goals, bool against, std::int64_t wanted,
                     Stop* stop) {
  if (!are_vertices(on, one, one) || goals.hierarchy != on.hierarchy || wanted < 1) return bad_input<IndexNearest>();
  IndexNearest out;
  PythonInterrupt interrupt(stop);
  {
    Unlocked unlocked;
    Reading reading(on, Reading::Lock::without);
    const auto search = [&](auto each) {
      std::vector<typename decltype(each)::Found> found;
      out.ending = each.run(one, goals.tree, static_cast<std::size_t>(wanted), interrupt, found);
      for (const auto& [cost, vertex] : found) {
        out.vertex.push_back(vertex);
        out.cost.push_back(cost);
      }
    };
    if (against) search(Nearest<1>(reading.view(), reading.lanes()));
    else search(Nearest<0>(reading.view(), reading.lanes()));
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
  parts.def_ro("bytes", &SkeletonParts::bytes);
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
  auto near = bind_result<IndexNearest>(module, "IndexNearest");
  bind_array<&IndexNearest::vertex>(near, "vertex");
  bind_array<&IndexNearest::cost>(near, "cost");
  bind_result<Customization>(module, "Customization")
      .def("distances", &distances, nb::arg("one"), nb::arg("many").noconvert().none(), nb::arg("against"),
           nb::arg("most"), nb::arg("stop").none())
      .def("nearest", &nearest, nb::arg("one"), nb::arg("goals"), nb::arg("against"), nb::arg("wanted"),
           nb::arg("stop").none())
      .def("matrix", &matrix, nb::arg("sources").noconvert(), nb::arg("targets").noconvert(), nb::arg("stop").none())
      .def_prop_ro("nbytes", [](const Customization& self) { return self.costs ? self.costs->bytes() : 0; })
      .def("update_in_place", &update_in_place, nb::arg("edges").noconvert(), nb::arg("weights").noconvert(),
           nb::arg("whole"), nb::arg("most"), nb::arg("stop").none())
      .def("updated", &updated, nb::arg("edges").noconvert(), nb::arg("weights").noconvert(), nb::arg("whole"),
           nb::arg("most"),
           nb::arg("stop").none())
      .def_prop_ro("lengths",  // a copy
                   [](const Customization& self) {
                     const Reading reading(self, Reading::Lock::with);
                     const auto* const data = reinterpret_cast<const double*>(reading.view().length);
                     const auto arcs = static_cast<std::ptrdiff_t>(self.costs->length.size());
                     return to_numpy(std::vector<double>(data, data + 2 * arcs));
                   })
      .def("distance", &distance, nb::arg("source"), nb::arg("target"))
      .def("paths", &paths, nb::arg("sources").noconvert(), nb::arg("targets").noconvert(), nb::arg("stop").none())
      .def("path", &path, nb::arg("source"), nb::arg("target"));
  nb::class_<Goals>(module, "Goals");
  nb::class_<Hierarchy>(module, "Hierarchy")
      .def("goals", &goals_of, nb::arg("many").noconvert())
      .def_prop_ro("arcs", [](const Hierarchy& self) { return self.topology.skeleton.arcs(); })
      .def_prop_ro("triangles", [](const Hierarchy& self) { return self.topology.pairs; })
      .def_prop_ro("nbytes", [](const Hierarchy& self) { return self.topology.bytes(); })
      .def_prop_ro("parts", &hierarchy_parts)
      .def("customize", &customize_for, nb::arg("weights").noconvert(), nb::arg("stop").none());
  graph
      .def("skeleton_parts", &skeleton_parts, nb::arg("order").noconvert(), nb::arg("most"), nb::arg("most_pairs"),
           nb::arg("stop").none())
      .def("open_hierarchy", &open_hierarchy, nb::arg("parts").noconvert());
}

}  // namespace rhostar::bindings
