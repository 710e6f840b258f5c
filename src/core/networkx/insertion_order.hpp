// Searches that settle ties as networkx does: of equal scores, the one that entered the queue first comes first.
//
// This is not the engine: engine/best_first.hpp settles ties by vertex, as the paper does, and reads weights from an
// array. One loop cannot serve both, because they differ in what the queue holds, not only in ties. networkx leaves an
// entry in its queue when a better one is found, and what it returns can depend on such an entry: if both scores round
// to the same number, the old one comes first, with its own parent and cost. The engine's heap has each vertex once.
// These loops also add Python's integers and floats, call the user's functions, which may fail or ask for another path,
// collect all predecessors, and search from both ends.
//
// They exist for results that must be those of networkx to the last tie. They read a weight when they come to its arc,
// through a reader, so a caller may keep the weights wherever it likes and change them between two queries.
//
//     reader.head(arc)                         where an arc leads
//     reader.weight(arc, tail, number)         its weight
//     reader.estimate(vertex, number)          the heuristic value of a vertex; asked once per vertex and query
//     reader.goes_on()                         asked before a vertex is expanded; false: end with Status::stopped
//
// Most of the time of a search in a large graph would be spent waiting for memory. So a reader is told in three steps,
// some vertices apart, about the arcs of a vertex that entered the queue, and may fetch what it will read into the
// cache: reader.first(begin, end), second(begin, end), third(begin, end).
//
// Sums are rounded as Python rounds them. Python adds integers exactly, so an integer sum of 2^53 or more ends the
// search.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "engine/status.hpp"
#include "engine/ties.hpp"

namespace rhostar::insertion {

// What a Python program would hold: a float if `real`, else an integer.
struct Number {
  double value = 0;
  bool real = false;
};

enum class Read : std::uint8_t {
  number,
  hidden,   // this arc is not there
  unknown,  // not a number that these loops add as Python does
  failed,   // the reader knows why
};

// The arcs of vertex v are first_out[v] to first_out[v + 1] - 1.
struct Links {
  const std::int32_t* first_out;
  std::int32_t n;
};

inline constexpr std::int32_t none = -1;

struct Record {
  Number g;                    // the least cost so far
  double h = 0;                // the heuristic value, if `valued`
  std::int32_t parent = none;  // on the way to `g`; A*: at the last expansion
  std::uint32_t generation = 0;
  bool h_real = false;
  bool seen = false, closed = false, valued = false;
};

// The queue: keys (score, number of the entry, vertex) in a heap with four children per node. Unlike the heap of
// heap.hpp it does not keep places: a vertex may be in it several times.
class Queue {
 public:
  void clear() {
    std::fill(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(size_), Key::highest());
    size_ = 0;
  }
  bool empty() const { return size_ == 0; }

  void push(double score, std::uint32_t number, std::int32_t vertex) {
    if (size_ + 5 > keys_.size()) keys_.resize(2 * keys_.size() + 64, Key::highest());
    rise(size_++, Key::make(score, tie_of(static_cast<std::int32_t>(number), vertex)));
  }

  Key pop() {
    Key* keys = keys_.data();
    const Key first = keys[0], last = keys[--size_];
    keys[size_] = Key::highest();  // behind the last key, so that groups need no look at where the heap ends
    if (size_ == 0) return first;
    std::size_t gap = 0;
    for (std::size_t child = 1; child < size_; child = 4 * gap + 1) {
      const std::size_t left = child + (keys[child + 1] < keys[child]);
      const std::size_t right = child + 2 + (keys[child + 3] < keys[child + 2]);
      const std::size_t least = keys[right] < keys[left] ? right : left;
      keys[gap] = keys[least];
      gap = least;
    }
    rise(gap, last);
    return first;
  }

 private:
  void rise(std::size_t gap, Key key) {
    Key* keys = keys_.data();
    for (; gap > 0 && key < keys[(gap - 1) / 4]; gap = (gap - 1) / 4) keys[gap] = keys[(gap - 1) / 4];
    keys[gap] = key;
  }
  std::vector<Key> keys_;
  std::size_t size_ = 0;
};

// What one query writes; used again by the next one, which pays only for the vertices that it touches.
class Scratch {
 public:
  explicit Scratch(std::int32_t n) : records_(static_cast<std::size_t>(n)) {}

  void begin() {
    if (++generation_ == 0) {
      std::fill(records_.begin(), records_.end(), Record{});
      generation_ = 1;
    }
    for (auto& line : lines_) line.fill(none);
    queue.clear();
    pushes.clear();
    closed.clear();
  }

  Record& operator[](std::int32_t v) {
    Record& record = records_[static_cast<std::size_t>(v)];
    if (record.generation != generation_) {
      record = Record{};
      record.generation = generation_;
    }
    return record;
  }

  // Puts v at the end of a line of waiting vertices, and takes the first one from it.
  std::int32_t delayed(std::int32_t v, std::size_t line) {
    return std::exchange(lines_[line][places_[line]++ % delay], v);
  }

  // Into the cache.
  void fetch(std::int32_t v) const { __builtin_prefetch(&records_[static_cast<std::size_t>(v)], 1); }

  struct Push {
    Number g;
    std::int32_t parent;
  };
  Queue queue;
  std::vector<Push> pushes;          // by the number of the entry; A* alone
  std::vector<std::int32_t> closed;  // in the order of closing; Dijkstra's algorithm alone

 private:
  static constexpr std::size_t delay = 8;  // of 4 to 16, none was clearly better
  std::array<std::array<std::int32_t, delay>, 2> lines_;
  std::array<std::size_t, 2> places_{};
  std::vector<Record> records_;
  std::uint32_t generation_ = 0;
};

// Announces to the reader the arcs of v and those of the vertices a few before it.
template <class Reader>
void announce(const Links& links, Reader& reader, Scratch& scratch, std::int32_t v) {
  reader.first(links.first_out[v], links.first_out[v + 1]);
  const std::int32_t second = scratch.delayed(v, 0);
  if (second == none) return;
  reader.second(links.first_out[second], links.first_out[second + 1]);
  const std::int32_t third = scratch.delayed(second, 1);
  if (third == none) return;
  const std::int32_t begin = links.first_out[third], end = links.first_out[third + 1];
  reader.third(begin, end);
  for (std::int32_t arc = begin; arc < end; ++arc) scratch.fetch(reader.head(arc));
}

struct End {
  Status status;
  std::int64_t offender = -1;  // the arc or vertex behind a failure
};

inline bool add(const Number& a, const Number& b, Number& sum) {
  sum = {a.value + b.value, a.real || b.real};
  // Integers below 2^53 are exact. 2^53 itself may be a sum that was rounded.
  return !std::isnan(sum.value) && (sum.real || std::abs(sum.value) < 0x1p53);
}

// networkx.astar_path. Entries stay in the queue after a better one was found, and are skipped when they come up.
template <class Reader>
End astar(const Links& links, Reader& reader, std::int32_t source, std::int32_t target, double cutoff, Scratch& scratch,
          std::vector<std::int32_t>& path) {
  scratch.begin();
  std::uint32_t count = 0;
  scratch.queue.push(0, count++, source);
  scratch.pushes.push_back({{}, none});
  while (!scratch.queue.empty()) {
    if (count == std::numeric_limits<std::uint32_t>::max()) return {Status::limit};
    const Key key = scratch.queue.pop();
    const Scratch::Push push = scratch.pushes[key.low >> 32];
    const std::int32_t v = key.vertex();
    if (v == target) {
      path.assign(1, v);
      for (std::int32_t u = push.parent; u != none; u = scratch[u].parent) {
        path.push_back(u);
        // Only negative weights can lead to a cycle here.
        if (path.size() > static_cast<std::size_t>(links.n)) return {Status::contradiction};
      }
      std::reverse(path.begin(), path.end());
      return {Status::solved};
    }
    {
      Record& record = scratch[v];
      if (record.closed && (record.parent == none || record.g.value < push.g.value)) continue;
      record.closed = true;
      record.parent = push.parent;
    }
    if (!reader.goes_on()) return {Status::stopped};
    for (std::int32_t arc = links.first_out[v]; arc < links.first_out[v + 1]; ++arc) {
      const std::int32_t u = reader.head(arc);
      Number weight, g, score;
      const Read read = reader.weight(arc, v, weight);
      if (read == Read::hidden) continue;
      if (read == Read::failed) return {Status::stopped};
      if (read == Read::unknown || !add(push.g, weight, g)) return {Status::bad_weight, arc};
      Record& record = scratch[u];
      if (record.seen && record.g.value <= g.value) continue;
      if (!record.valued) {
        Number h;
        const Read answer = reader.estimate(u, h);  // may run other code, but not another query with this scratch
        if (answer == Read::failed) return {Status::stopped};
        if (answer != Read::number || std::isnan(h.value)) return {Status::bad_rho, u};
        record.h = h.value;
        record.h_real = h.real;
        record.valued = true;
      }
      if (!add(g, {record.h, record.h_real}, score)) return {Status::bad_rho, u};
      if (score.value > cutoff) continue;
      record.seen = true;
      record.g = g;
      scratch.queue.push(score.value, count++, u);
      scratch.pushes.push_back({g, v});
      announce(links, reader, scratch, u);
    }
  }
  return {Status::no_path};
}

// All predecessors on shortest paths, in the order in which they were found; for networkx's `pred`.
struct Predecessors {
  std::vector<std::int32_t> found;            // vertices, in the order in which they were first seen
  std::vector<std::vector<std::int32_t>> of;  // empty for vertices that were not seen
};

// networkx's Dijkstra from several sources: until `target` is closed (all of the graph if it is `none`), within
// `cutoff`. scratch.closed and the records of these vertices are the answer. `all` may be null.
template <class Reader>
End dijkstra(const Links& links, Reader& reader, const std::vector<std::int32_t>& sources, std::int32_t target,
             double cutoff, Scratch& scratch, Predecessors* all) {
  scratch.begin();
  std::uint32_t count = 0;
  for (const std::int32_t source : sources) {
    if (all && !scratch[source].seen) all->found.push_back(source);
    scratch[source].seen = true;
    scratch.queue.push(0, count++, source);
  }
  while (!scratch.queue.empty()) {
    if (count == std::numeric_limits<std::uint32_t>::max()) return {Status::limit};
    const std::int32_t v = scratch.queue.pop().vertex();
    if (scratch[v].closed) continue;
    scratch[v].closed = true;
    scratch.closed.push_back(v);
    if (v == target) return {Status::solved};
    if (!reader.goes_on()) return {Status::stopped};
    const Number dist = scratch[v].g;
    for (std::int32_t arc = links.first_out[v]; arc < links.first_out[v + 1]; ++arc) {
      const std::int32_t u = reader.head(arc);
      Number weight, g;
      const Read read = reader.weight(arc, v, weight);
      if (read == Read::hidden) continue;
      if (read == Read::failed) return {Status::stopped};
      if (read == Read::unknown || !add(dist, weight, g)) return {Status::bad_weight, arc};
      if (g.value > cutoff) continue;
      Record& record = scratch[u];
      if (record.closed && g.value < record.g.value) return {Status::contradiction, arc};
      if (!record.closed && (!record.seen || g.value < record.g.value)) {
        if (all) {
          if (!record.seen) all->found.push_back(u);
          all->of[static_cast<std::size_t>(u)].assign(1, v);
        }
        record.seen = true;
        record.g = g;
        record.parent = v;
        scratch.queue.push(g.value, count++, u);
        announce(links, reader, scratch, u);
      } else if (all && g.value == record.g.value) {
        all->of[static_cast<std::size_t>(u)].push_back(v);
      }
    }
  }
  return {target == none ? Status::done : Status::no_path};
}

// networkx.bidirectional_dijkstra: forward from `source` and backward from `target` in turn. `back` has the reversed
// arcs; the reader of each side knows its own arcs.
template <class Forward, class Backward>
End bidirectional(const Links& links, const Links& back, Forward& forward, Backward& backward, std::int32_t source,
                  std::int32_t target, Scratch& ahead, Scratch& behind, Number& cost, std::vector<std::int32_t>& path) {
  std::uint32_t count = 0;
  const auto start = [&count](Scratch& scratch, std::int32_t v) {
    scratch.begin();
    scratch[v].seen = true;
    scratch.queue.push(0, count++, v);
  };
  start(ahead, source);
  start(behind, target);
  std::int32_t meeting = none;
  bool met = false;
  // One step of one side; Status::done if the search goes on.
  const auto step = [&](const Links& arcs, auto& reader, Scratch& mine, Scratch& other) -> End {
    if (count == std::numeric_limits<std::uint32_t>::max()) return {Status::limit};
    const std::int32_t v = mine.queue.pop().vertex();
    if (mine[v].closed) return {Status::done};
    mine[v].closed = true;
    if (other[v].closed) return {Status::solved};
    if (!reader.goes_on()) return {Status::stopped};
    const Number dist = mine[v].g;
    for (std::int32_t arc = arcs.first_out[v]; arc < arcs.first_out[v + 1]; ++arc) {
      const std::int32_t u = reader.head(arc);
      Number weight, g, total;
      const Read read = reader.weight(arc, v, weight);
      if (read == Read::hidden) continue;
      if (read == Read::failed) return {Status::stopped};
      if (read == Read::unknown || !add(dist, weight, g)) return {Status::bad_weight, arc};
      Record& record = mine[u];
      if (record.closed) {
        if (g.value < record.g.value) return {Status::contradiction, arc};
        continue;
      }
      if (record.seen && !(g.value < record.g.value)) continue;
      record.seen = true;
      record.g = g;
      record.parent = v;
      mine.queue.push(g.value, count++, u);
      announce(arcs, reader, mine, u);
      if (!other[u].seen) continue;
      if (!add(g, other[u].g, total)) return {Status::bad_weight, arc};
      if (!met || cost.value > total.value) {
        met = true;
        cost = total;
        meeting = u;
      }
    }
    return {Status::done};
  };
  for (bool is_ahead = true; !ahead.queue.empty() && !behind.queue.empty(); is_ahead = !is_ahead) {
    const End end = is_ahead ? step(links, forward, ahead, behind) : step(back, backward, behind, ahead);
    if (end.status == Status::done) continue;
    if (end.status != Status::solved) return end;
    path.clear();
    for (std::int32_t v = meeting; v != none; v = ahead[v].parent) path.push_back(v);
    std::reverse(path.begin(), path.end());
    for (std::int32_t v = behind[meeting].parent; v != none; v = behind[v].parent) path.push_back(v);
    return end;
  }
  return {Status::no_path};
}

}  // namespace rhostar::insertion
