// One best-first loop for Algorithm 1 (greedy best-first search), Algorithm 2 (A*) and Dijkstra's.
//
//   source ──> OPEN ── empty ────────────────────────────────────────> no_path
//               │
//               │ select v: least (score, vertex)
//               │           A*: v is the goal ───────────────────────> solved
//               │           expanded == budget ──────────────────────> budget
//               v
//             scan the children c of v:  g_new = g(v) + w(v, c)
//               │
//               │ c is unseen:        open     c enters OPEN, parent v
//               │                     greedy: c is the goal ─────────> solved
//               │ c is in OPEN:       improve  if g_new < g(c): new g, parent and score
//               │ c is in CLOSED:     reopen   if g_new < g(c): c goes back to OPEN
//               │ otherwise:          ignore   (greedy search ignores every c it has seen)
//               v
//             v ──> CLOSED, and again from OPEN
//
// The algorithms differ in the score (A*: g + rho, greedy: rho, Dijkstra: g) and in when they stop; a Rule says both.
// Ties are broken as in ties.hpp, and an improvement is strict. Rules, logs and bounds use the user's numbers of
// vertices, the loop those of its arcs.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "engine/csr.hpp"
#include "engine/heap.hpp"
#include "engine/interrupt.hpp"
#include "engine/status.hpp"
#include "engine/workspace.hpp"
#include "potentials.hpp"

namespace rhostar {

// ---------------------------------------------------------------- rules

// Where rho comes from: a table, or a guide that computes it (potentials.hpp).
struct TableRho {
  const double* table;
  double of(std::int32_t v) const { return table[v]; }
  void prefetch(const auto& arcs, std::int32_t v) const { arcs.prefetch_rho(table, v); }
};

struct GuideRho {
  Guide* guide;
  double of(std::int32_t v) const { return (*guide)(v); }
  void prefetch(const auto& arcs, std::int32_t v) const { guide->prefetch(arcs.outer(v)); }
};

template <class Rho>
struct AStar {
  static constexpr bool greedy = false;
  Rho rho;
  double score(double g, double rho_of_v) const { return g + rho_of_v; }
};

template <class Rho>
struct Greedy {
  static constexpr bool greedy = true;
  Rho rho;
  double score(double, double rho_of_v) const { return rho_of_v; }
};

using AStarRule = AStar<TableRho>;
using GreedyRule = Greedy<TableRho>;

// Whether rho is computed.
template <class Rule>
constexpr bool is_guided = false;
template <template <class> class Algorithm>
constexpr bool is_guided<Algorithm<GuideRho>> = true;

struct NoRho {
  double of(std::int32_t) const { return 0.0; }
  void prefetch(const auto&, std::int32_t) const {}
};

struct DijkstraRule {
  static constexpr bool greedy = false;
  NoRho rho;
  double score(double g, double) const { return g; }
};

// Whether +inf is a value, which says that there is no path from a vertex.
template <class Rule>
constexpr bool may_be_infinite = requires { decltype(Rule::rho)::infinite; };

// ---------------------------------------------------------------- the event log

enum class Event : std::uint8_t { select, open, improve, reopen, close, goal };

struct NoLog {
  void add(Event, std::int32_t, double) {}
};

// The parent of an opened, improved or reopened vertex is the vertex selected last.
struct EventLog {
  std::vector<std::uint8_t> kind;
  std::vector<std::int32_t> vertex;
  std::vector<double> g;
  void add(Event event, std::int32_t v, double cost) {
    kind.push_back(static_cast<std::uint8_t>(event));
    vertex.push_back(v);
    g.push_back(cost);
  }
};

// ---------------------------------------------------------------- what goes in and comes out

// Values pi that never overestimate: a table, or a guide that computes the few that are asked for; or none.
struct LowerBound {
  const double* table = nullptr;
  Guide* guide = nullptr;
  explicit operator bool() const { return table || guide; }
  double of(std::int32_t v) const { return guide ? (*guide)(v) : table[v]; }
};

struct Options {
  bool reopen = true;
  std::int64_t budget = std::numeric_limits<std::int64_t>::max();
  LowerBound lower_bound;  // for the certified gap of A*
  Interrupt* interrupt = nullptr;
  std::int64_t first_look = 1 << 16;  // arcs that are scanned before the first look at the interrupt
};

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Outcome {
  Status status = Status::no_path;
  double cost = infinity;
  std::int64_t expanded = 0;   // vertices whose children were scanned, each time
  std::int64_t generated = 0;  // insertions into OPEN, the start and reopenings included
  std::int64_t reopened = 0;   // moves from CLOSED to OPEN
  std::int64_t peak_open = 0;  // largest |OPEN| after an iteration
  double bound = -infinity;    // the optimum is at least this; -inf where no lower_bound was given
  std::int64_t offender = -1;  // the arc or vertex behind a failure
};

// ---------------------------------------------------------------- the loop

// Graphs up to this size stay in the caches anyway. There, the number of instructions matters: nothing is prefetched,
// and a wider heap and blank records are faster. On larger graphs the wait for memory matters, and they are not.
constexpr std::int32_t largest_near = 20'000;

template <class Key, bool near, class Rule, class Arcs, class Log>
Outcome best_first(Arcs arcs, const Rule& rule, std::int32_t source, std::int32_t goal, const Options& options,
                   Workspace& workspace, Log& log) {
  // How many arcs are scanned between two checks of the interrupt.
  constexpr std::int64_t patience = 1 << 16;

  const Csr graph = arcs.graph;
  assert(0 <= source && source < graph.n && -1 <= goal && goal < graph.n);
  assert(workspace.size() == static_cast<std::size_t>(graph.n));
  if constexpr (near) workspace.begin_blank();
  else workspace.begin();
  Node* const nodes = workspace.nodes();
  const std::uint32_t open = workspace.generation();
  const std::uint32_t closed = open + 1;
  auto heap = workspace.template heap<Key, near ? 8 : 4>();
  Outcome out;
  double ignored = infinity;  // least g_new + pi over improvements of closed vertices that were not taken
  std::int64_t countdown = options.first_look;

  const auto fail = [&out](Status status, std::int64_t offender) {
    out.status = status;
    out.offender = offender;
    return out;
  };
  const auto finish = [&](Status status) {
    out.status = status;
    if (!options.lower_bound) return out;
    double bound = ignored;
    for (const Key& key : heap) {
      const std::int32_t v = key.vertex();
      const double least = nodes[v].g + options.lower_bound.of(arcs.outer(v));
      if (!(least > -infinity)) return fail(Status::bad_bound, arcs.outer(v));
      bound = std::min(bound, least);
    }
    out.bound = bound;
    return out;
  };

  const auto rho = [&](std::int32_t v) { return rule.rho.of(arcs.outer(v)); };
  // A guide may lead to several goals; it knows them, and `goal` is one of them. A rule may have an end of its own.
  const auto is_goal = [&](std::int32_t v) {
    if constexpr (requires { rule.ends(v, 0.0); }) return rule.ends(v, nodes[v].g);
    else if constexpr (is_guided<Rule>) return rule.rho.guide->is_goal(arcs.outer(v));
    else return v == goal;
  };

  const auto write_first = [&](std::int32_t v, double g, std::int32_t parent) {
    nodes[v] = {g, parent, open};
    if constexpr (near) workspace.note(v);
  };

  const double first_rho = rho(source);
  if (may_be_infinite<Rule> && first_rho == infinity) return finish(Status::no_path);
  if (!std::isfinite(first_rho)) return fail(Status::bad_rho, arcs.outer(source));
  write_first(source, 0.0, -1);
  if (!Key::fits(rule.score(0.0, first_rho))) return fail(Status::unfit, -1);
  heap.push(Key::make(rule.score(0.0, first_rho), arcs.tie(source)));
  log.add(Event::open, arcs.outer(source), 0.0);
  out.generated = out.peak_open = 1;
  if (Rule::greedy && is_goal(source)) return finish(Status::solved);

  while (!heap.empty()) {
    const std::int32_t v = heap.top();
    if (!Rule::greedy && is_goal(v)) {
      log.add(Event::select, arcs.outer(v), nodes[v].g);
      return finish(Status::solved);
    }
    if (out.expanded == options.budget) return finish(Status::budget);

    const std::int32_t begin = graph.first_out[v];
    const std::int32_t end = graph.first_out[v + 1];
    countdown -= std::int64_t{end} - begin + 1;
    if (countdown < 0) {
      if (options.interrupt && options.interrupt->requested()) return fail(Status::stopped, arcs.outer(v));
      countdown = patience;
    }
    if constexpr (!near) {  // the children's records come in while the heap is repaired
      for (std::int32_t arc = begin; arc < end; ++arc) {
        __builtin_prefetch(nodes + graph.head[arc]);
        rule.rho.prefetch(arcs, graph.head[arc]);
      }
    }
    if (4 * out.reopened > out.expanded) {
      heap.vacate();  // where much is reopened, the records are in the cache and the next key is often the least
    } else {
      heap.pop();
      if (!near && !heap.empty()) arcs.prefetch_row(heap.top());
    }

    arcs.enter(v);
    nodes[v].stamp = closed;
    const double g = nodes[v].g;
    ++out.expanded;
    log.add(Event::select, arcs.outer(v), g);
    for (std::int32_t arc = begin; arc < end; ++arc) {
      const std::int32_t c = graph.head[arc];
      Node& child = nodes[c];
      if constexpr (Rule::greedy) {
        if (child.stamp >= open) continue;
      }
      const auto weight = arcs.weight(arc);
      if (is_bad(weight)) return fail(Status::bad_weight, arcs.edge(arc));
      const double g_new = g + static_cast<double>(weight);
      const bool fresh = child.stamp < open;
      // The most common case by far comes first: a vertex that is known and not improved.
      if (near ? g_new >= child.g : !(fresh | (g_new < child.g))) continue;

      if (fresh) {
        if (g_new >= cost_limit<std::remove_const_t<decltype(weight)>>) {
          if (is_absent(weight)) continue;
          return fail(Status::overflow, arcs.edge(arc));  // the weight is good, the sum is too large
        }
        if (Rule::greedy && is_goal(c)) {
          write_first(c, g_new, v);
          log.add(Event::goal, arcs.outer(c), g_new);
          return finish(Status::solved);
        }
        const double rho_of_c = rho(c);
        if (may_be_infinite<Rule> && rho_of_c == infinity) continue;
        if (!std::isfinite(rho_of_c)) return fail(Status::bad_rho, arcs.outer(c));
        const double score = rule.score(g_new, rho_of_c);
        if (!Key::fits(score)) return fail(Status::unfit, -1);
        write_first(c, g_new, v);
        if constexpr (!near) __builtin_prefetch(graph.first_out + c);  // for when it is expanded
        heap.push(Key::make(score, arcs.tie(c)));
        ++out.generated;
        log.add(Event::open, arcs.outer(c), g_new);
      } else if (child.stamp == open) {
        child.g = g_new;
        child.parent = v;
        const double score = rule.score(g_new, rho(c));
        if (!Key::fits(score)) return fail(Status::unfit, -1);
        heap.decrease(Key::make(score, arcs.tie(c)));
        log.add(Event::improve, arcs.outer(c), g_new);
      } else if (options.reopen) {
        const double score = rule.score(g_new, rho(c));
        if (!Key::fits(score)) return fail(Status::unfit, -1);
        child = {g_new, v, open};
        heap.push(Key::make(score, arcs.tie(c)));
        ++out.generated;
        ++out.reopened;
        log.add(Event::reopen, arcs.outer(c), g_new);
      } else if (options.lower_bound) {
        const double least = g_new + options.lower_bound.of(arcs.outer(c));
        if (!(least > -infinity)) return fail(Status::bad_bound, arcs.outer(c));
        ignored = std::min(ignored, least);
      }
    }
    heap.settle();
    log.add(Event::close, arcs.outer(v), g);
    out.peak_open = std::max(out.peak_open, static_cast<std::int64_t>(heap.size()));
  }
  return finish(Status::no_path);
}

// Integer weights are tried with narrow keys first. With an integer rho their scores usually fit; if one does not, the
// same search with wide keys gives the same run. A rho that is computed is seldom an integer.
template <bool near, class Rule, class Arcs, class Log>
Outcome search_sized(const Arcs& arcs, const Rule& rule, std::int32_t source, std::int32_t goal, const Options& options,
                     Workspace& workspace, Log& log) {
  if constexpr (Arcs::ties_are_vertices && std::is_same_v<Log, NoLog> && !is_guided<Rule> &&
                std::is_integral_v<decltype(arcs.weight(0))>) {
    const Outcome out = best_first<NarrowKey, near>(arcs, rule, source, goal, options, workspace, log);
    if (out.status != Status::unfit) return out;
  }
  return best_first<Key, near>(arcs, rule, source, goal, options, workspace, log);
}

// Only searches without a log in the user's own order have a kernel for small graphs: a trace need not be fast, and
// rearranged graphs are large.
template <class Rule, class Arcs, class Log>
Outcome search(const Arcs& arcs, const Rule& rule, std::int32_t source, std::int32_t goal, const Options& options,
               Workspace& workspace, Log& log) {
  if constexpr (Arcs::ties_are_vertices && std::is_same_v<Log, NoLog>)
    if (arcs.graph.n <= largest_near) return search_sized<true>(arcs, rule, source, goal, options, workspace, log);
  return search_sized<false>(arcs, rule, source, goal, options, workspace, log);
}

// ---------------------------------------------------------------- one query, with its path

// Appends the path along the parents to `path`, nothing if the goal was not generated, and sets the cost. With
// reopening, when the budget runs out, a vertex before the goal may have been improved and the goal's g not yet: the
// path is then cheaper than g, and is added up from the start, as every g is.
template <class Arcs>
void read_path(Arcs arcs, std::int32_t goal, Workspace& workspace, Outcome& out, std::vector<std::int32_t>& path) {
  const Node* nodes = workspace.nodes();
  if (nodes[goal].stamp < workspace.generation()) return;
  const auto begin = static_cast<std::ptrdiff_t>(path.size());
  std::size_t length = 0;
  for (std::int32_t v = goal; v != -1; v = nodes[v].parent) ++length;
  assert(length <= workspace.size());
  path.resize(path.size() + length);
  auto place = path.end();
  for (std::int32_t v = goal; v != -1; v = nodes[v].parent) *--place = v;
  out.cost = nodes[goal].g;
  if (out.reopened > 0) {
    out.cost = 0.0;
    for (auto v = path.begin() + begin; v + 1 != path.end(); ++v) {
      arcs.enter(*v);
      out.cost += static_cast<double>(arcs.weight(arcs.find(*v, *(v + 1))));
    }
  }
  for (auto v = path.begin() + begin; v != path.end(); ++v) *v = arcs.outer(*v);
}

// Of several goals, the one with the lowest cost so far and then the smallest number, which is the one selected; the
// first if none was generated.
template <class Arcs>
std::int32_t nearest_goal(const Arcs& arcs, const std::vector<std::int32_t>& goals, Workspace& workspace) {
  const Node* nodes = workspace.nodes();
  std::int32_t nearest = goals[0];
  double least = infinity;
  for (const std::int32_t goal : goals) {
    const Node& node = nodes[arcs.inner(goal)];
    if (node.stamp < workspace.generation() || node.g > least || (node.g == least && goal > nearest)) continue;
    least = node.g;
    nearest = goal;
  }
  return nearest;
}

// Source and goal are the user's numbers, and so are the vertices of the path.
template <class Rule, class Arcs, class Log>
Outcome query(const Arcs& arcs, const Rule& rule, std::int32_t source, std::int32_t goal, const Options& options,
              Workspace& workspace, Log& log, std::vector<std::int32_t>& path) {
  Outcome out = search(arcs, rule, arcs.inner(source), arcs.inner(goal), options, workspace, log);
  if (!is_end_of_run(out.status)) return out;
  if constexpr (is_guided<Rule>) goal = nearest_goal(arcs, rule.rho.guide->goals(), workspace);
  read_path(arcs, arcs.inner(goal), workspace, out, path);
  // No optimum is negative, and none exceeds the cost of a path that was found.
  if (options.lower_bound) out.bound = std::min(out.cost, std::max(0.0, out.bound));
  return out;
}

}  // namespace rhostar
