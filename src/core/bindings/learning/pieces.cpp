#include "learning/pieces.hpp"

#include "bindings/engine/instances.hpp"

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

// One instance in whole numbers, and the line rho = base + theta * direction.
struct LineProblem {
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

PiecesOutcome pieces(Graph& graph, const LineProblem& problem, Positions low, Positions high, const SearchOptions& how,
                     std::int64_t limit, Stop* stop) {
  if (!problem.fits(graph) || low.size() != 5 || high.size() != 5) return bad_input<PiecesOutcome>();
  PythonInterrupt interrupt(stop);
  const Options options = how.with(interrupt);
  PiecesOutcome all;
  {
    Unlocked unlocked;
    const auto find = [&](auto search) { return find_pieces(search, to_place(low), to_place(high), limit, interrupt); };
    all = how.greedy ? find(problem.search<true>(graph, options)) : find(problem.search<false>(graph, options));
  }
  interrupt.raise_if_signalled();
  return all;
}

// The events of the run at one place.
struct PieceTrace {
  Ending ending;
  EventLog log;
};

PieceTrace piece_trace(Graph& graph, const LineProblem& problem, Positions place, const SearchOptions& how,
                       Stop* stop) {
  if (!problem.fits(graph) || place.size() != 5) return bad_input<PieceTrace>();
  PythonInterrupt interrupt(stop);
  const Options options = how.with(interrupt);
  Outcome out;
  PieceTrace trace;
  {
    Unlocked unlocked;
    const Place start = to_place(place);
    Place end = start;
    const auto run = [&](auto search) { search.run(start, end, out, trace.log); };
    if (how.greedy) run(problem.search<true>(graph, options));
    else run(problem.search<false>(graph, options));
  }
  interrupt.raise_if_signalled();
  if (!is_end_of_run(out.status)) trace.ending = {.status = out.status, .offender = out.offender};
  return trace;
}

}  // namespace

void bind_pieces(nb::module_& module, GraphClass& graph) {
  nb::class_<LineProblem>(module, "LineProblem")
      .def(nb::init<Positions, Table, double, std::int64_t, std::int64_t, Positions, Positions>(),
           nb::arg("exact").noconvert(), nb::arg("weights").noconvert(), nb::arg("unit"), nb::arg("source"),
           nb::arg("goal"), nb::arg("base").noconvert(), nb::arg("direction").noconvert());

  auto found = bind_result<PiecesOutcome>(module, "PiecesOutcome");
  bind_array<&PiecesOutcome::p>(found, "p");
  bind_array<&PiecesOutcome::q>(found, "q");
  bind_array<&PiecesOutcome::side>(found, "side");
  found.def_ro("runs", &PiecesOutcome::runs);

  nb::class_<EventLog> log(module, "EventLog");
  bind_array<&EventLog::kind>(log, "kind");
  bind_array<&EventLog::vertex>(log, "vertex");
  bind_array<&EventLog::g>(log, "g");
  bind_result<PieceTrace>(module, "PieceTrace").def_ro("log", &PieceTrace::log);

  graph
      .def("pieces", &pieces, nb::arg("problem"), nb::arg("low").noconvert(), nb::arg("high").noconvert(),
           nb::arg("options"), nb::arg("limit"), nb::arg("stop").none())
      .def("piece_trace", &piece_trace, nb::arg("problem"), nb::arg("place").noconvert(), nb::arg("options"),
           nb::arg("stop").none());
}

}  // namespace rhostar::bindings
