// Finds where a run changes along a line rho = base + theta * direction, in exact arithmetic.
//
// All numbers are integers: weights and base in one unit, the direction in another, and theta in the ratio of the
// two. A score is then A + theta * F with A = g + base (greedy search: base alone) and F the direction, and two
// scores cross at (A_u - A_v) / (F_v - F_u). With |A| and |F| at most 2^61 numerators and denominators stay within
// 62 bits, and every comparison below is one of 128-bit integers that do not overflow.
//
// A place is a point of the line, or what comes just before or just after it: there, scores that are equal at the point
// are ordered by their slopes. A run is the same from `start` to `end` if each of its selections has the lowest score
// at both: scores are straight lines, so it has the lowest score in between as well. So a second heap, keyed at the end
// of what is known to be one piece, finds the selections that break it, and only then is OPEN looked through for the
// first crossing. The end moves closer a few times in a run, as records do, not at every selection.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "engine/batch.hpp"
#include "engine/csr.hpp"
#include "engine/heap.hpp"
#include "engine/ties.hpp"

namespace rhostar {

__extension__ using int128 = __int128;

struct Place {
  int128 p, q;  // theta = p / q, q > 0
  int side;     // -1: just before, 0: there, 1: just after
};

struct Line {
  const std::int64_t* base;
  const std::int64_t* direction;
};

struct LineKey {
  int128 value;        // q times the score at p / q
  std::int64_t slope;  // decides among equal scores just beside p / q; 0 at the point itself
  std::uint64_t tie;   // then the tie rule

  static constexpr LineKey highest() {
    return {static_cast<int128>(~uint128{0} >> 1), std::numeric_limits<std::int64_t>::max(), ~std::uint64_t{0}};
  }
  std::int32_t vertex() const { return vertex_of(tie); }
  bool operator<(const LineKey& other) const {
    if (value != other.value) return value < other.value;
    if (slope != other.slope) return slope < other.slope;
    return tie < other.tie;
  }
};

// The pieces of one instance, from left to right. Piece i ends at p[i] / q[i], just before it where side[i] is -1, and
// the next begins right after that place; the last ends where the range does.
struct PiecesOutcome {
  Ending ending;  // `limit` if there are more pieces than that
  std::vector<std::int64_t> p, q;
  std::vector<std::int8_t> side;
  RunColumns runs;
};

template <bool greedy>
class LineSearch {
 public:
  // A negative exact weight marks an absent arc; `weights` are the same in the user's floats, for the costs, and
  // `unit` is what one exact unit is worth, for traces.
  LineSearch(const Csr& graph, const std::int64_t* exact, const double* weights, double unit, const Line& line,
             std::int32_t source, std::int32_t goal, const Options& options)
      : graph_(graph), exact_(exact), weights_(weights), unit_(unit), line_(line), source_(source), goal_(goal),
        options_(options), nodes_(static_cast<std::size_t>(graph.n)), places_(nodes_.size()),
        end_places_(nodes_.size()) {}

  // Run at `start` and move `end` back to the last place up to which the run is the same; true if it moved.
  template <class Log>
  bool run(const Place& start, Place& end, Outcome& out, Log& log) {
    start_ = start;
    end_ = end;
    moved_ = false;
    generation_ += 2;
    open_.emplace(open_keys_, places_.data());
    at_end_.emplace(end_keys_, end_places_.data());
    out = search(log);
    open_.reset();
    at_end_.reset();
    end = end_;
    return moved_;
  }

  // Appends the path of the last run and returns its cost, added up from the start like every cost.
  double read_path(std::vector<std::int32_t>& path) const {
    if (nodes_[goal_].stamp < generation_) return infinity;
    const auto begin = static_cast<std::ptrdiff_t>(path.size());
    for (std::int32_t v = goal_; v != -1; v = nodes_[v].parent) path.push_back(v);
    std::reverse(path.begin() + begin, path.end());
    double cost = 0.0;
    for (auto v = path.begin() + begin; v + 1 != path.end(); ++v) cost += weights_[find_arc(graph_, *v, *(v + 1))];
    return cost;
  }

 private:
  // Greedy search compares no costs: it adds up the floats, for traces.
  using Cost = std::conditional_t<greedy, double, std::int64_t>;
  struct LineNode {
    Cost g;
    std::int32_t parent;
    std::uint32_t stamp;  // as in workspace.hpp
  };
  struct Crossing {
    std::int64_t p, q;
    int side;
    // Places in the order of the line.
    bool operator<(const Crossing& other) const {
      const int128 left = int128{p} * other.q, right = int128{other.p} * q;
      return left != right ? left < right : side < other.side;
    }
  };

  std::int64_t score(std::int32_t v) const {
    if constexpr (greedy) return line_.base[v];
    else return nodes_[v].g + line_.base[v];
  }
  Cost weight(std::int32_t arc) const {
    if constexpr (greedy) return weights_[arc];
    else return exact_[arc];
  }
  double in_floats(Cost g) const { return greedy ? static_cast<double>(g) : static_cast<double>(g) * unit_; }

  LineKey key(const Place& place, std::int32_t v) const {
    const std::int64_t slope = line_.direction[v];
    return {score(v) * place.q + place.p * slope, place.side * slope, tie_of(v)};
  }

  // Where the scores of u and v, of different slopes, are the same.
  Crossing crossing(std::int32_t u, std::int32_t v, int side) const {
    const std::int64_t p = score(u) - score(v), q = line_.direction[v] - line_.direction[u];
    return q > 0 ? Crossing{p, q, side} : Crossing{-p, -q, side};
  }

  void move_end(const Crossing& place) {
    end_ = {place.p, place.q, place.side};
    moved_ = true;
  }

  void insert(std::int32_t v) {
    open_->push(key(start_, v));
    at_end_->push(key(end_, v));
  }

  void improve(std::int32_t v) {
    open_->decrease(key(start_, v));
    at_end_->decrease(key(end_, v));
  }

  // The piece ends where v, which is selected now, no longer has the lowest score in OPEN: at the first crossing with a
  // vertex that overtakes it, or just before that if the other wins the tie.
  void tighten(std::int32_t v) {
    const LineKey mine = key(end_, v);
    std::optional<Crossing> first;
    for (const LineKey& other : *at_end_) {
      if (!(other < mine)) continue;
      const std::int32_t u = other.vertex();
      const Crossing place = crossing(u, v, wins_tie(v, u) ? 0 : -1);
      if (!first || place < *first) first = place;
    }
    move_end(*first);
    at_end_.reset();
    at_end_.emplace(end_keys_, end_places_.data());
    for (const LineKey& other : *open_) at_end_->push(key(end_, other.vertex()));
  }

  // Out of budget: what is selected next does not change the run, unless it is the goal.
  void tighten_before_goal() {
    if (greedy || nodes_[goal_].stamp != generation_) return;
    // The goal has the lowest score from `from` to `to`; not at the start, so this interval is wholly before or after
    // it.
    const LineKey at_start = key(start_, goal_), at_end = key(end_, goal_);
    std::optional<Crossing> from, to;
    bool later = false;
    for (const LineKey& other : *open_) {
      const std::int32_t u = other.vertex();
      const std::int64_t rise = line_.direction[goal_] - line_.direction[u];
      if (rise == 0) {
        if (other < at_start) return;  // never the least
      } else if (rise > 0) {
        const Crossing place = crossing(u, goal_, wins_tie(goal_, u) ? 0 : -1);
        if (!to || place < *to) to = place;
      } else {
        if (key(end_, u) < at_end) return;  // not the least before the end
        later |= other < at_start;
        const Crossing place = crossing(u, goal_, wins_tie(goal_, u) ? 0 : 1);
        if (!from || *from < place) from = place;
      }
    }
    if (!later || (to && *to < *from)) return;
    --from->side;  // the place before it
    move_end(*from);
  }

  template <class Log>
  Outcome search(Log& log) {
    constexpr std::int64_t patience = 1 << 16;
    const std::uint32_t open = generation_, closed = generation_ + 1;
    Outcome out;
    const auto finish = [&out](Status status) {
      out.status = status;
      return out;
    };
    nodes_[source_] = {0, -1, open};
    insert(source_);
    log.add(Event::open, source_, 0.0);
    out.generated = out.peak_open = 1;
    if (greedy && source_ == goal_) return finish(Status::solved);

    while (!open_->empty()) {
      const std::int32_t v = open_->top();
      if ((greedy || v != goal_) && out.expanded == options_.budget) {
        tighten_before_goal();
        return finish(Status::budget);
      }
      if (at_end_->top() != v) tighten(v);
      const Cost g = nodes_[v].g;
      log.add(Event::select, v, in_floats(g));
      if (!greedy && v == goal_) return finish(Status::solved);

      const std::int32_t first = graph_.first_out[v], last = graph_.first_out[v + 1];
      countdown_ -= std::int64_t{last} - first + 1;
      if (countdown_ < 0) {
        if (options_.interrupt && options_.interrupt->requested()) return finish(Status::stopped);
        countdown_ = patience;
      }
      open_->pop();
      at_end_->pop();
      nodes_[v].stamp = closed;
      ++out.expanded;
      for (std::int32_t arc = first; arc < last; ++arc) {
        if (exact_[arc] < 0) continue;
        const std::int32_t c = graph_.head[arc];
        LineNode& child = nodes_[c];
        const Cost g_new = g + weight(arc);
        if (child.stamp < open) {
          child = {g_new, v, open};
          if (greedy && c == goal_) {
            log.add(Event::goal, c, in_floats(g_new));
            return finish(Status::solved);
          }
          insert(c);
          ++out.generated;
          log.add(Event::open, c, in_floats(g_new));
        } else if (!greedy && g_new < child.g) {
          if (child.stamp == open) {
            child = {g_new, v, open};
            improve(c);
            log.add(Event::improve, c, in_floats(g_new));
          } else if (options_.reopen) {
            child = {g_new, v, open};
            insert(c);
            ++out.generated;
            ++out.reopened;
            log.add(Event::reopen, c, in_floats(g_new));
          }
        }
      }
      log.add(Event::close, v, in_floats(g));
      out.peak_open = std::max(out.peak_open, static_cast<std::int64_t>(open_->size()));
    }
    return finish(Status::no_path);
  }

  Csr graph_;
  const std::int64_t* exact_;
  const double* weights_;
  double unit_;
  Line line_;
  std::int32_t source_, goal_;
  Options options_;
  std::vector<LineNode> nodes_;
  std::vector<std::int32_t> places_, end_places_;
  std::vector<LineKey> open_keys_, end_keys_;
  std::optional<Heap<LineKey>> open_, at_end_;
  Place start_{}, end_{};
  bool moved_ = false;
  std::uint32_t generation_ = 0;
  std::int64_t countdown_ = 0;
};

// All pieces from `low` to `high`, both included, but not more than `limit`.
template <bool greedy>
PiecesOutcome find_pieces(LineSearch<greedy>& search, Place low, const Place& high, std::int64_t limit,
                          Interrupt& interrupt) {
  PiecesOutcome all;
  NoLog log;
  for (Place start = low; static_cast<std::int64_t>(all.runs.status.size()) < limit;) {
    Place end = high;
    Outcome out;
    if (interrupt.requested()) out.status = Status::stopped;
    const bool broken = out.status != Status::stopped && search.run(start, end, out, log);
    if (out.status == Status::stopped) {
      all.ending.status = Status::stopped;
      return all;
    }
    out.cost = search.read_path(all.runs.path);
    all.runs.add(out);
    if (!broken) return all;
    all.p.push_back(static_cast<std::int64_t>(end.p));
    all.q.push_back(static_cast<std::int64_t>(end.q));
    all.side.push_back(static_cast<std::int8_t>(end.side));
    start = {end.p, end.q, end.side + 1};
  }
  all.ending.status = Status::limit;
  return all;
}

}  // namespace rhostar
