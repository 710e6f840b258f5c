#include "engine/time_of_day.hpp"

#include "bindings/common.hpp"

namespace rhostar::bindings {

namespace {

// Weights by time of day that Python made and validated; it keeps the arrays alive.
struct Day {
  Table times;
  Tables weights, soonest;
  Positions first, member;
  TimeOfDay view;

  Day(Table at, double period, Tables rows, Tables earliest, Positions begins, Positions members)
      : times(std::move(at)), weights(std::move(rows)), soonest(std::move(earliest)), first(std::move(begins)),
        member(std::move(members)), view{.times = times.data(),
                                         .bins = static_cast<std::int32_t>(times.size()),
                                         .period = period,
                                         .weights = weights.data(),
                                         .edges = static_cast<std::int64_t>(weights.shape(1)),
                                         .soonest = soonest.is_valid() ? soonest.data() : nullptr,
                                         .first = first.is_valid() ? first.data() : nullptr,
                                         .member = first.is_valid() ? member.data() : nullptr} {
    bool fits = times.size() > 0 && weights.shape(0) == times.size() && is_aligned(weights.data());
    if (soonest.is_valid()) fits = fits && soonest.shape(0) == weights.shape(0) && soonest.shape(1) == weights.shape(1);
    fits = fits && first.is_valid() == member.is_valid();
    if (first.is_valid()) {
      for (std::size_t i = 0; i + 1 < first.size(); ++i) fits = fits && first(i) >= 0 && first(i) < first(i + 1);
      fits = fits && first.size() > 0 && first(first.size() - 1) == static_cast<std::int64_t>(member.size());
      for (std::size_t i = 0; i < member.size(); ++i) fits = fits && member(i) >= 0 && member(i) < view.edges;
    }
    if (!fits) throw nb::value_error("the arrays do not fit each other");
  }

  // Whether there are weights for each edge of a graph.
  bool fits(const Graph& graph) const {
    return graph.csr.m == (view.first ? static_cast<std::int64_t>(first.size()) - 1 : view.edges);
  }
};

struct TimedPath {
  Ending ending;  // solved, no_path, budget, or a failure
  double cost = infinity;
  std::int64_t expanded = 0;
  std::vector<std::int32_t> path;
};

// From `source` at a time, or against the arcs from `source`, to be there at a time. The path is in the order of
// driving. A negative budget is none.
TimedPath search_at(Graph& graph, const Day& day, std::int64_t source, std::int64_t goal, double begin, bool against,
                    const SharedPotential* shared, std::int64_t budget, Stop* stop) {
  const bool fits = day.fits(graph) && graph.has_vertex(source) && graph.has_vertex(goal) && std::isfinite(begin) &&
                    (!shared || shared->get().n == graph.csr.n);
  if (!fits) return bad_input<TimedPath>();
  TimedPath all;
  PythonInterrupt interrupt(stop);
  Options options;
  options.interrupt = &interrupt;
  if (budget >= 0) options.budget = budget;
  const auto run = [&]<bool turned, class Base>(const Base& base) {
    Unlocked unlocked;
    Lease workspace(graph.pool, graph.csr.n);
    const TimedArcs<Base, turned> arcs(base, day.view, (*workspace).nodes(), begin);
    const std::int32_t from = arcs.inner(static_cast<std::int32_t>(source));
    const std::int32_t to = arcs.inner(static_cast<std::int32_t>(goal));
    NoLog log;
    Outcome out;
    if (shared) {
      Guided guide(shared->get());
      const auto aim = static_cast<std::int32_t>(goal);
      (*guide).aim(&aim, 1);
      out = search(arcs, AStar<GuideRho>{{&*guide}}, from, to, options, *workspace, log);
    } else {
      out = search(arcs, DijkstraRule{}, from, to, options, *workspace, log);
    }
    all.ending = {.status = out.status, .offender = out.offender};
    all.expanded = out.expanded;
    if (out.status != Status::solved) return;
    const Node* nodes = (*workspace).nodes();
    all.cost = nodes[to].g;
    for (std::int32_t v = to; v != -1; v = nodes[v].parent) all.path.push_back(arcs.outer(v));
    if (!turned) std::reverse(all.path.begin(), all.path.end());
  };
  const double* row = day.view.row(std::max(day.view.at(begin).bin, 0));
  if (against) graph.with_arcs_against(row, [&](const auto& arcs) { run.template operator()<true>(arcs); });
  else if (graph.order) run.template operator()<false>(OrderedArcs<double>(*graph.order, row));
  else run.template operator()<false>(OutArcs<double>{graph.csr, row});
  interrupt.raise_if_signalled();
  return all;
}

struct Along {
  Ending ending;
  std::vector<double> times;         // at each vertex of the path; +inf after an edge that is closed
  std::vector<std::int64_t> chosen;  // the edge of the rows for each of its edges
};

// When a drive along edges that begins at a time is at each vertex; against the arcs, when it must be there to end at
// that time.
Along along(const Graph& graph, const Day& day, Indices edges, double begin, bool against) {
  bool fits = day.fits(graph);
  for (std::size_t i = 0; fits && i < edges.size(); ++i) fits = 0 <= edges(i) && edges(i) < graph.csr.m;
  if (!fits) return bad_input<Along>();
  const std::size_t size = edges.size();
  Along all;
  all.times.assign(size + 1, infinity);
  all.chosen.resize(size);
  double time = begin;
  all.times[against ? size : 0] = time;
  for (std::size_t i = 0; i < size && std::isfinite(time); ++i) {
    const std::size_t k = against ? size - 1 - i : i;
    const TimeOfDay::Moment now = day.view.at(time);
    time = against ? time - day.view.of<true>(edges(k), now, &all.chosen[k])
                   : time + day.view.of<false>(edges(k), now, &all.chosen[k]);
    all.times[against ? k : k + 1] = time;
  }
  return all;
}

}  // namespace

void bind_time_of_day(nb::module_& module, GraphClass& graph) {
  nb::class_<Day>(module, "TimeOfDay")
      .def(nb::init<Table, double, Tables, Tables, Positions, Positions>(), nb::arg("times").noconvert(),
           nb::arg("period"), nb::arg("weights").noconvert(), nb::arg("soonest").noconvert().none(),
           nb::arg("first").noconvert().none(), nb::arg("member").noconvert().none());
  auto found = bind_result<TimedPath>(module, "TimedPath");
  found.def_ro("cost", &TimedPath::cost).def_ro("expanded", &TimedPath::expanded);
  bind_array<&TimedPath::path>(found, "path");
  auto drive = bind_result<Along>(module, "Along");
  bind_array<&Along::times>(drive, "times");
  bind_array<&Along::chosen>(drive, "chosen");
  graph
      .def("search_at", &search_at, nb::arg("day"), nb::arg("source"), nb::arg("goal"), nb::arg("begin"),
           nb::arg("against"), nb::arg("potential").none(), nb::arg("budget"), nb::arg("stop").none())
      .def("along", &along, nb::arg("day"), nb::arg("edges").noconvert(), nb::arg("begin"), nb::arg("against"));
}

}  // namespace rhostar::bindings
