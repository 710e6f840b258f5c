#include "learning/flow.hpp"

#include "bindings/common.hpp"

namespace rhostar::bindings {

namespace {

// Whether the arrays fit each other and no sum of slopes along a path can overflow.
bool is_program(const FlowProgram& program, std::int64_t segments) {
  constexpr std::int64_t largest = std::int64_t{1} << 61;
  const std::int64_t steepest = largest / std::max(program.n, 1);
  bool good =
      program.root >= 0 && program.root < program.n && program.first[0] == 0 && program.first[program.m] == segments;
  for (std::int32_t e = 0; good && e < program.m; ++e) {
    const std::int32_t tail = program.tail[e], head = program.head[e];
    good = 0 <= tail && tail < program.n && 0 <= head && head < program.n && tail != head &&
           program.first[e] <= program.first[e + 1];
  }
  for (std::int32_t e = 0; good && e < program.m; ++e)
    for (std::int64_t k = program.first[e]; good && k < program.first[e + 1]; ++k)
      good = 0 <= program.slope[k] && program.slope[k] <= steepest && 0 < program.room[k] &&
             program.room[k] <= largest && (k == program.first[e] || program.slope[k - 1] <= program.slope[k]);
  for (std::int32_t v = 0; good && v < program.n; ++v)
    good =
        0 <= program.supply[v] && program.supply[v] <= largest && 0 <= program.upper[v] && program.upper[v] <= steepest;
  return good;
}

FlowOutcome solve_flow(Indices tail, Indices head, Positions first, Positions slope, Positions room, Positions supply,
                       Positions upper, Table guess, std::int64_t root, double seconds, Stop* stop) {
  const std::size_t n = supply.size(), m = tail.size();
  if (head.size() != m || first.size() != m + 1 || slope.size() != room.size() || upper.size() != n ||
      guess.size() != n || n + m > std::size_t{1} << 30 || root < 0 || root >= static_cast<std::int64_t>(n))
    return bad_input<FlowOutcome>();
  const FlowProgram program{.n = static_cast<std::int32_t>(n),
                            .m = static_cast<std::int32_t>(m),
                            .root = static_cast<std::int32_t>(root),
                            .tail = tail.data(),
                            .head = head.data(),
                            .first = first.data(),
                            .slope = slope.data(),
                            .room = room.data(),
                            .supply = supply.data(),
                            .upper = upper.data(),
                            .guess = guess.data()};
  if (!is_program(program, static_cast<std::int64_t>(slope.size()))) return bad_input<FlowOutcome>();
  FlowOutcome outcome;
  PythonInterrupt interrupt(stop);
  {
    Unlocked unlocked;
    outcome = NetworkSimplex(program).solve(seconds, interrupt);
  }
  interrupt.raise_if_signalled();
  return outcome;
}

}  // namespace

void bind_flow(nb::module_& module) {
  auto outcome = bind_result<FlowOutcome>(module, "FlowOutcome");
  bind_array<&FlowOutcome::potential>(outcome, "potential");
  outcome.def_ro("pivots", &FlowOutcome::pivots);
  module.def("solve_flow", &solve_flow, nb::arg("tail").noconvert(), nb::arg("head").noconvert(),
             nb::arg("first").noconvert(), nb::arg("slope").noconvert(), nb::arg("room").noconvert(),
             nb::arg("supply").noconvert(), nb::arg("upper").noconvert(), nb::arg("guess").noconvert(), nb::arg("root"),
             nb::arg("seconds"), nb::arg("stop").none());
}

}  // namespace rhostar::bindings
