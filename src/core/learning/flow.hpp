// The learners' linear program, solved as a minimum-cost flow by the network simplex method.
//
// An amount supply[v] enters at every vertex and flows to the root. An edge has segments: each takes up to `room` units
// at a cost of `slope` a unit, the cheapest first, so that the cost of an edge is a convex function of its flow. Every
// vertex also has its own ground edge to the root: any amount at a cost of upper[v], or any amount back for nothing.
// The potential of a vertex is what one more unit there would cost, which is what the learner wants.
//
//        v ──(slope, room), (slope, room), …──> c          all numbers are integers: the result is exact,
//        v ──(upper[v], ∞) ──> root,  root ──(0, ∞)──> v   and no pivot can be lost to rounding
//
// An edge is either in the tree, on one of its segments, or rests at the boundary between two. Only the two segments at
// that boundary can be worth a pivot, so a pass over the edges does not depend on the number of segments.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "engine/interrupt.hpp"
#include "engine/status.hpp"

namespace rhostar {

// Segments first[e] to first[e + 1] - 1 belong to edge e, with slopes that never decrease.
struct FlowProgram {
  std::int32_t n = 0, m = 0, root = 0;
  const std::int32_t* tail = nullptr;
  const std::int32_t* head = nullptr;
  const std::int64_t* first = nullptr;
  const std::int64_t* slope = nullptr;
  const std::int64_t* room = nullptr;
  const std::int64_t* supply = nullptr;  // not negative
  const std::int64_t* upper = nullptr;   // not negative
  const double* guess = nullptr;         // about the potential of each vertex: where the first tree comes from
};

struct FlowOutcome {
  Ending ending;
  std::vector<std::int64_t> potential;
  std::int64_t pivots = 0;
};

class NetworkSimplex {
 public:
  explicit NetworkSimplex(const FlowProgram& program)
      : p_(program), edges_(p_.m + p_.n), at_(edges_), border_(edges_), pi_(p_.n, 0), node_(p_.n) {}

  // Status::limit if the time has run out.
  FlowOutcome solve(double seconds, Interrupt& interrupt) {
    const auto begin = std::chrono::steady_clock::now();
    plant();
    FlowOutcome outcome;
    while (const Entry entry = price()) {
      pivot(entry);
      if (++outcome.pivots % 1024 != 0) continue;
      if (interrupt.requested()) return {.ending = {.status = Status::stopped}, .pivots = outcome.pivots};
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      if (spent.count() > seconds) return {.ending = {.status = Status::limit}, .pivots = outcome.pivots};
    }
    outcome.potential = std::move(pi_);
    return outcome;
  }

 private:
  static constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max() / 2;

  // A potential difference between `down` and `up` is in order. In the tree both are the slope of the segment.
  struct Border {
    std::int32_t tail, head;
    std::int64_t down, up;
  };
  // A vertex and the tree edge to its parent; `above` and `below` are how much more may flow toward and from the root.
  struct Node {
    std::int32_t parent = -1, depth = 0, child = -1, next = -1, previous = -1, edge = -1;
    std::int64_t above = 0, below = 0;
  };
  struct Entry {
    std::int32_t edge = -1;
    bool forward = false;
    explicit operator bool() const { return edge >= 0; }
  };

  // ---------------------------------------------------------------- edges, those of the ground included

  bool is_ground(std::int32_t e) const { return e >= p_.m; }
  std::int64_t segments(std::int32_t e) const { return is_ground(e) ? 2 : p_.first[e + 1] - p_.first[e]; }
  std::int64_t slope(std::int32_t e, std::int64_t k) const {
    if (is_ground(e)) return k == 0 ? 0 : p_.upper[e - p_.m];
    return p_.slope[p_.first[e] + k];
  }
  std::int64_t room(std::int32_t e, std::int64_t k) const { return is_ground(e) ? endless : p_.room[p_.first[e] + k]; }

  // The edge leaves the tree and rests below segment k.
  void rest(std::int32_t e, std::int64_t k) {
    at_[e] = k;
    border_[e].down = k > 0 ? slope(e, k - 1) : -endless;
    border_[e].up = k < segments(e) ? slope(e, k) : endless;
  }
  // The edge is in the tree, on segment k.
  void grow(std::int32_t e, std::int64_t k) {
    at_[e] = k;
    border_[e].down = border_[e].up = slope(e, k);
  }
  bool points_up(std::int32_t v) const { return border_[node_[v].edge].tail == v; }

  // ---------------------------------------------------------------- the tree

  void attach(std::int32_t v, std::int32_t parent) {
    Node& node = node_[v];
    node.parent = parent;
    node.previous = -1;
    node.next = node_[parent].child;
    if (node.next >= 0) node_[node.next].previous = v;
    node_[parent].child = v;
  }
  void detach(std::int32_t v) {
    const Node& node = node_[v];
    (node.previous >= 0 ? node_[node.previous].next : node_[node.parent].child) = node.next;
    if (node.next >= 0) node_[node.next].previous = node.previous;
  }
  // Adds to the potentials of v and everything below it, and renews their depths.
  void lift(std::int32_t v, std::int64_t shift) {
    stack_.assign(1, v);
    while (!stack_.empty()) {
      const std::int32_t u = stack_.back();
      stack_.pop_back();
      pi_[u] += shift;
      node_[u].depth = node_[node_[u].parent].depth + 1;
      for (std::int32_t c = node_[u].child; c >= 0; c = node_[c].next) stack_.push_back(c);
    }
  }

  // The first tree. From large guesses to small ones, what has come to a vertex goes along its widest edge to a smaller
  // guess, and by the ground if it does not fit. Every vertex can then send a little more toward the root: such a tree
  // is strongly feasible, and pivots keep it so, which is why the method ends.
  void plant() {
    for (std::int32_t e = 0; e < p_.m; ++e) {
      border_[e] = {p_.tail[e], p_.head[e], 0, 0};
      rest(e, 0);
    }
    for (std::int32_t v = 0; v < p_.n; ++v) {
      border_[p_.m + v] = {v, p_.root, 0, 0};
      rest(p_.m + v, 1);
    }
    std::vector<std::int32_t> order(p_.n), widest(p_.n, -1);
    std::vector<std::int64_t> flow(p_.supply, p_.supply + p_.n), width(p_.m, 0);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return p_.guess[a] > p_.guess[b]; });
    for (std::int32_t e = 0; e < p_.m; ++e) {
      for (std::int64_t k = 0; k < segments(e); ++k) width[e] += room(e, k);
      const std::int32_t v = p_.tail[e];
      if (v == p_.root || !(p_.guess[p_.head[e]] < p_.guess[v])) continue;
      if (widest[v] < 0 || width[e] > width[widest[v]]) widest[v] = e;
    }
    for (const std::int32_t v : order) {
      if (v == p_.root) continue;
      std::int32_t e = widest[v];
      std::int64_t k = 0, rest_of = flow[v];
      if (e >= 0 && flow[v] < width[e]) {
        for (; rest_of >= room(e, k); ++k) rest_of -= room(e, k);
        flow[p_.head[e]] += flow[v];
      } else {
        if (e >= 0) {
          rest(e, segments(e));
          flow[p_.head[e]] += width[e];
          rest_of -= width[e];
        }
        e = p_.m + v, k = 1;
      }
      grow(e, k);
      node_[v].edge = e;
      node_[v].above = room(e, k) == endless ? endless : room(e, k) - rest_of;
      node_[v].below = rest_of;
      node_[v].parent = border_[e].head;
    }
    for (std::size_t i = order.size(); i-- > 0;) {  // parents, which have smaller guesses or are the root, come first
      const std::int32_t v = order[i];
      if (v == p_.root) continue;
      attach(v, node_[v].parent);
      pi_[v] = pi_[node_[v].parent] + border_[node_[v].edge].up;
      node_[v].depth = node_[node_[v].parent].depth + 1;
    }
  }

  // ---------------------------------------------------------------- pivots

  // The edge that is most out of order among the next few hundred; none if all are in order.
  Entry price() {
    const auto block = static_cast<std::int32_t>(std::max(50.0, std::sqrt(static_cast<double>(edges_))));
    Entry best;
    std::int64_t most = 0;
    for (std::int32_t seen = 0, left = block; seen < edges_; ++seen) {
      const Border& border = border_[next_];
      const std::int64_t difference = pi_[border.tail] - pi_[border.head];
      if (difference - border.up > most) most = difference - border.up, best = {next_, true};
      if (border.down - difference > most) most = border.down - difference, best = {next_, false};
      if (++next_ == edges_) next_ = 0;
      if (--left == 0) {
        if (best) break;
        left = block;
      }
    }
    return best;
  }

  void pivot(const Entry& entry) {
    const std::int32_t e = entry.edge;
    const std::int32_t from = entry.forward ? border_[e].tail : border_[e].head;
    const std::int32_t to = entry.forward ? border_[e].head : border_[e].tail;
    const std::int64_t segment = entry.forward ? at_[e] : at_[e] - 1;
    const std::int64_t whole = room(e, segment);
    // The cycle goes down to `from`, over the edge, and from `to` up again. Of the edges that limit the flow, the last
    // one on the way leaves.
    std::int64_t amount = whole;
    std::int32_t leaving = -1;
    bool before = false;
    std::int32_t a = from, b = to;
    while (a != b) {
      if (node_[a].depth >= node_[b].depth) {
        if (node_[a].below < amount) amount = node_[a].below, leaving = a, before = true;
        a = node_[a].parent;
      } else {
        b = node_[b].parent;
      }
    }
    const std::int32_t join = a;
    for (std::int32_t v = to; v != join; v = node_[v].parent)
      if (node_[v].above <= amount) amount = node_[v].above, leaving = v, before = false;
    if (amount > 0) {
      for (std::int32_t v = from; v != join; v = node_[v].parent) push(node_[v].below, node_[v].above, amount);
      for (std::int32_t v = to; v != join; v = node_[v].parent) push(node_[v].above, node_[v].below, amount);
    }
    if (leaving < 0) {
      rest(e, entry.forward ? segment + 1 : segment);
      return;
    }
    // The leaving edge has reached the upper end of its segment if its own direction is that of the cycle.
    const std::int32_t out = node_[leaving].edge;
    const bool rises = before != points_up(leaving);
    rest(out, rises ? at_[out] + 1 : at_[out]);
    grow(e, segment);
    const std::int32_t top = before ? from : to, below = before ? to : from;
    // Turn the stem from `top` up to where the tree was cut, then hang it on the new edge.
    const std::int64_t forth = whole == endless ? endless : whole - amount;  // how much more may go from `from` to `to`
    std::int32_t v = top, parent = below, edge = e;
    std::int64_t above = before ? forth : amount, under = before ? amount : forth;
    for (bool last = false; !last;) {
      last = v == leaving;
      Node& node = node_[v];
      const std::int32_t old_parent = node.parent, old_edge = node.edge;
      const std::int64_t old_above = node.above, old_below = node.below;
      detach(v);
      attach(v, parent);
      node.edge = edge, node.above = above, node.below = under;
      parent = v, edge = old_edge, above = old_below, under = old_above;
      v = old_parent;
    }
    const std::int64_t cost = border_[e].up;
    const std::int64_t shift = border_[e].tail == top ? pi_[below] + cost - pi_[top] : pi_[below] - cost - pi_[top];
    lift(top, shift);
  }
  static void push(std::int64_t& less, std::int64_t& more, std::int64_t amount) {
    if (less < endless) less -= amount;
    if (more < endless) more += amount;
  }

  const FlowProgram& p_;
  std::int32_t edges_;
  std::int32_t next_ = 0;
  std::vector<std::int64_t> at_;
  std::vector<Border> border_;
  std::vector<std::int64_t> pi_;
  std::vector<Node> node_;
  std::vector<std::int32_t> stack_;
};

}  // namespace rhostar
