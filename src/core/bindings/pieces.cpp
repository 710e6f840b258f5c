#include "pieces.hpp"

#include "common.hpp"

namespace rhostar::bindings {

namespace {

// A place comes as five numbers: the upper and lower halves of p and of q, and the side.
Place to_place(const Positions& halves) {
  const auto whole = [&](std::size_t i) {
    return static_cast<int128>((uint128{static_cast<std::uint64_t>(halves(i))} << 64) |
                               static_cast<std::uint64_t>(halves(i + 1)));
  };
  return {whole(0), whole(2), static_cast<int>(halves(4))};
}

struct Problem {
  Positions exact;
  Table weights;
  double unit;
  std::int64_t source, goal;
  Positions base, direction;

  bool fits(const Graph& graph) const {
    const auto n = static_cast<std::size_t>(graph.csr.n), m = static_cast<std::size_t>(graph.csr.m);
    return exact.size() == m && weights.size() == m && base.size() == n && direction.size() == n &&
           is_aligned(exact.data()) && is_aligned(weights.data()) && is_aligned(base.data()) &&
           is_aligned(direction.data()) && graph.has_vertex(source) && graph.has_vertex(goal);
  }

  template <bool greedy>
  LineSearch<greedy> search(const Graph& graph, const Options& options) const {
    return LineSearch<greedy>(graph.csr, exact.data(), weights.data(), unit, Line{base.data(), direction.data()},
                              static_cast<std::int32_t>(source), static_cast<std::int32_t>(goal), options);
  }
};

// (failure, complete, p, q, side, status, cost, expanded, generated, reopened, peak_open, path_end, path)
nb::tuple pieces(Graph& graph, bool greedy, Positions exact, Table weights, std::int64_t source, std::int64_t goal,
                 Positions base, Positions direction, Positions low, Positions high, bool reopen, std::int64_t budget,
                 std::int64_t limit, Stop* stop) {
  const Problem problem{exact, weights, 0.0, source, goal, base, direction};
  if (!problem.fits(graph) || low.size() != 5 || high.size() != 5) return nb::make_tuple(bad_input);
  PythonInterrupt interrupt(stop);
  Options options;
  options.reopen = reopen;
  if (budget >= 0) options.budget = budget;
  options.interrupt = &interrupt;
  PiecesOutcome all;
  {
    Unlocked unlocked;
    const auto find = [&](auto search) { return find_pieces(search, to_place(low), to_place(high), limit, interrupt); };
    all = greedy ? find(problem.search<true>(graph, options)) : find(problem.search<false>(graph, options));
  }
  interrupt.raise_if_signalled();
  const int failure = static_cast<int>(all.stopped ? Status::stopped : Status::solved);
  return nb::make_tuple(failure, all.complete, to_numpy(std::move(all.p)), to_numpy(std::move(all.q)),
                        to_numpy(std::move(all.side)), to_numpy(std::move(all.status)), to_numpy(std::move(all.cost)),
                        to_numpy(std::move(all.expanded)), to_numpy(std::move(all.generated)),
                        to_numpy(std::move(all.reopened)), to_numpy(std::move(all.peak_open)),
                        to_numpy(std::move(all.path_end)), to_numpy(std::move(all.path)));
}

// (failure, (kind, vertex, g)): the events of the run at one place.
nb::tuple piece_trace(Graph& graph, bool greedy, Positions exact, Table weights, double unit, std::int64_t source,
                      std::int64_t goal, Positions base, Positions direction, Positions place, bool reopen,
                      std::int64_t budget, Stop* stop) {
  const Problem problem{exact, weights, unit, source, goal, base, direction};
  if (!problem.fits(graph) || place.size() != 5) return nb::make_tuple(bad_input);
  PythonInterrupt interrupt(stop);
  Options options;
  options.reopen = reopen;
  if (budget >= 0) options.budget = budget;
  options.interrupt = &interrupt;
  Outcome out;
  EventLog log;
  {
    Unlocked unlocked;
    const Place start = to_place(place);
    Place end = start;
    const auto run = [&](auto search) { search.run(start, end, out, log); };
    if (greedy) run(problem.search<true>(graph, options));
    else run(problem.search<false>(graph, options));
  }
  interrupt.raise_if_signalled();
  const int failure = static_cast<int>(out.status == Status::stopped ? Status::stopped : Status::solved);
  return nb::make_tuple(failure, nb::make_tuple(to_numpy(std::move(log.kind)), to_numpy(std::move(log.vertex)),
                                                to_numpy(std::move(log.g))));
}

}  // namespace

void bind_pieces(nb::class_<Graph>& graph) {
  graph
      .def("pieces", &pieces, nb::arg("greedy"), nb::arg("exact").noconvert(), nb::arg("weights").noconvert(),
           nb::arg("source"), nb::arg("goal"), nb::arg("base").noconvert(), nb::arg("direction").noconvert(),
           nb::arg("low").noconvert(), nb::arg("high").noconvert(), nb::arg("reopen"), nb::arg("budget"),
           nb::arg("limit"), nb::arg("stop").none())
      .def("piece_trace", &piece_trace, nb::arg("greedy"), nb::arg("exact").noconvert(), nb::arg("weights").noconvert(),
           nb::arg("unit"), nb::arg("source"), nb::arg("goal"), nb::arg("base").noconvert(),
           nb::arg("direction").noconvert(), nb::arg("place").noconvert(), nb::arg("reopen"), nb::arg("budget"),
           nb::arg("stop").none());
}

}  // namespace rhostar::bindings
