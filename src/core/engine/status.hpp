// The only list of the ways in which a call of the core can end, each with its message.
//
// Python sees it as `_core.Status`, and rhostar/_failures.py turns a failure into an exception. A message may have gaps
// in braces, which _failures.py fills with what only the caller knows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace rhostar {

enum class Status : std::uint8_t {
  // How one run ends. These three are what the public rhostar.Status has.
  solved,
  no_path,
  budget,
  // How any other call ends well.
  done,
  limit,
  // What a search may come across.
  stopped,
  bad_weight,
  overflow,
  bad_rho,
  bad_bound,
  bad_input,
  contradiction,
  // What the check of a graph, of weights, or of lines of text may find.
  bad_offsets,
  bad_head,
  loop,
  child_order,
  outside_bounds,
  other_line,
  bad_number,
  missing_field,
  extra_field,
  // Stays inside the core: a fast search cannot do it (scores do not fit narrow keys, weights do not fit buckets), and
  // one that always can starts from scratch.
  unfit,
};

struct StatusText {
  Status status;
  const char* name;  // in Python
  const char* message;
};

inline constexpr std::array status_texts{
    StatusText{Status::solved, "SOLVED", "a path was found"},
    StatusText{Status::no_path, "NO_PATH", "there is no path"},
    StatusText{Status::budget, "BUDGET", "the budget ran out"},
    StatusText{Status::done, "DONE", "everything was done"},
    StatusText{Status::limit, "LIMIT", "the limit was reached before everything was done"},
    StatusText{Status::stopped, "STOPPED", "stopped"},
    StatusText{Status::bad_weight, "BAD_WEIGHT", "{what} must be at least 0{limit} and not NaN, got {value}"},
    StatusText{Status::overflow, "OVERFLOW", "{what} is {value}: with it a path costs {most}"},
    StatusText{Status::bad_rho, "BAD_RHO", "rho[{vertex}] must be finite, got {value}"},
    StatusText{Status::bad_bound, "BAD_BOUND", "lower_bound[{vertex}] must be a number or +inf, got {value}"},
    StatusText{Status::bad_input, "BAD_INPUT", "the arrays do not fit the graph or each other"},
    StatusText{Status::contradiction, "CONTRADICTION",
               "a shorter path was found too late: are there negative weights?"},
    StatusText{Status::bad_offsets, "BAD_OFFSETS",
               "first_out must begin with 0, never decrease and end with the number of edges; wrong at vertex {index}"},
    StatusText{Status::bad_head, "BAD_HEAD", "head[{index}] is not a vertex: {head}"},
    StatusText{Status::loop, "LOOP", "head[{index}] = {head} is a loop; use Graph.from_edges, which drops loops"},
    StatusText{Status::child_order, "CHILD_ORDER",
               "head[{index}] = {head} is out of order: children must be increasing; use Graph.from_edges"},
    StatusText{Status::outside_bounds, "OUTSIDE_BOUNDS", "a weight is outside the bounds that were stated"},
    StatusText{Status::other_line, "OTHER_LINE", "expected '{form}', got {text}"},
    StatusText{Status::bad_number, "BAD_NUMBER", "{field} must be {wanted}: expected '{form}', got {text}"},
    StatusText{Status::missing_field, "MISSING_FIELD", "{field} is missing: expected '{form}', got {text}"},
    StatusText{Status::extra_field, "EXTRA_FIELD", "expected '{form}' and nothing more, got {text}"},
    StatusText{Status::unfit, "UNFIT", "a search must start again with keys that fit all scores"},
};

// The table has every status, in the order of the enum.
static_assert([] {
  for (std::size_t i = 0; i < status_texts.size(); ++i)
    if (static_cast<std::size_t>(status_texts[i].status) != i) return false;
  return status_texts.size() == static_cast<std::size_t>(Status::unfit) + 1;
}());

constexpr const char* message(Status status) { return status_texts[static_cast<std::size_t>(status)].message; }

// Whether a run came to its end: everything else is a failure.
constexpr bool is_end_of_run(Status status) { return status <= Status::budget; }

// How a call over many things ended.
struct Ending {
  Status status = Status::done;
  std::int64_t at = -1;        // the instance, snapshot or row at which it ended early
  std::int64_t offender = -1;  // the arc or vertex behind a failure
};

}  // namespace rhostar
