// The nearest of some vertices by a customized hierarchy: from one source to goals, or from sources to one target.
//
// Ways into the subtree of a node that does not contain the one vertex lead over the list of the node. So the lowest
// distance of the list is a bound on everything below. Nodes with goals below them are opened from the root down, the
// lowest bound first, until it exceeds the worst of the goals that are wanted: a search for neighbors in a tree, as
// with points in space. Distances are those of Sweep. Of equal ones, the vertex with the smaller number is nearer.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "engine/interrupt.hpp"
#include "engine/status.hpp"
#include "hierarchy/many.hpp"

namespace rhostar {

// The nodes that have goals in them or below, whatever the weights are; children before parents.
class GoalTree {
 public:
  struct Node {
    std::int32_t node;      // of the skeleton
    std::int32_t lowest;    // of its ranks that goals depend on
    std::int32_t from, to;  // its own goals
    std::int32_t child, sibling;
  };
  std::vector<std::int32_t> goals;  // their ranks in order, each once
  std::vector<Node> nodes;
  std::int32_t root = -1;  // the first; others are its siblings

  GoalTree(const Skeleton& skeleton, const std::int32_t* many, std::int64_t count) {
    goals.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) goals.push_back(skeleton.rank[many[i]]);
    std::sort(goals.begin(), goals.end());
    goals.erase(std::unique(goals.begin(), goals.end()), goals.end());
    const auto size = static_cast<std::int32_t>(goals.size());
    // Postorder: an ancestor of one goal's node that is not below the node of the next goal is an ancestor of both. It
    // is added after that one, so those that wait for a parent are a stack.
    std::int32_t waiting = -1;  // linked as siblings
    for (std::int32_t from = 0, to = 0; from < size; from = to) {
      std::int32_t s = skeleton.node[goals[from]];
      while (to < size && goals[to] < skeleton.begin[s + 1]) ++to;
      const std::int32_t stop = to < size ? skeleton.node[goals[to]] : skeleton.nodes();
      Node next{s, goals[from], from, to, -1, -1};
      for (;;) {
        while (waiting >= 0 && skeleton.node[skeleton.parent(nodes[waiting].node)] == next.node) {
          const std::int32_t child = waiting;
          waiting = std::exchange(nodes[child].sibling, next.child);
          next.child = child;
          next.lowest = std::min(next.lowest, skeleton.parent(nodes[child].node));
        }
        const std::int32_t parent = skeleton.parent(next.node), place = static_cast<std::int32_t>(nodes.size());
        next.sibling = parent < 0 ? std::exchange(root, place) : std::exchange(waiting, place);
        nodes.push_back(next);
        if (parent < 0 || (s = skeleton.node[parent]) >= stop) break;
        next = {s, parent, 0, 0, -1, -1};
      }
    }
  }
};

// Lane 0: from one source to goals; lane 1: from sources to one target.
template <int lane>
class Nearest : Sweep<lane> {
 public:
  struct Found {
    double cost;
    std::int32_t vertex;
    auto operator<=>(const Found&) const = default;
  };

  Nearest(const Customized& on, Lanes& lanes) : Sweep<lane>(on, lanes, no_way) {}

  //! At most `wanted` of the goals, the nearest first; those that cannot be reached are left out.
  Ending run(std::int32_t one, const GoalTree& tree, std::size_t wanted, Interrupt& interrupt,
             std::vector<Found>& found) {
    lanes_.value.resize(lanes_.known.size(), this->unknown);
    this->climb(one);
    const std::int32_t start = skeleton_.rank[one];
    struct Open {
      double bound;
      std::int32_t place;
      bool operator<(const Open& other) const { return bound > other.bound; }  // the lowest bound comes first
    };
    std::priority_queue<Open> open;
    found.clear();
    double worst = no_way;  // of those that are wanted
    const auto put = [&](std::int32_t first) {
      for (std::int32_t place = first; place >= 0; place = tree.nodes[place].sibling)
        if (const double bound = lowest(tree.nodes[place].node, start); bound < no_way && bound <= worst)
          open.push({bound, place});
    };
    Ending ending;
    std::int64_t work = 0;
    for (put(tree.root); !open.empty() && open.top().bound <= worst;) {
      const GoalTree::Node& next = tree.nodes[open.top().place];
      open.pop();
      for (std::int32_t r = skeleton_.begin[next.node + 1] - 1; r >= next.lowest; --r) {
        lanes_.value[r] = this->evaluate(r);
        lanes_.walked.push_back(r);
        work += skeleton_.first[r + 1] - skeleton_.first[r];
      }
      for (std::int32_t i = next.from; i < next.to; ++i) {
        const Found goal{lanes_.value[tree.goals[i]], skeleton_.vertex[tree.goals[i]]};
        if (goal.cost == no_way || (found.size() == wanted && !(goal < found.front()))) continue;
        if (found.size() == wanted) {
          std::pop_heap(found.begin(), found.end());
          found.pop_back();
        }
        found.push_back(goal);
        std::push_heap(found.begin(), found.end());
        if (found.size() == wanted) worst = found.front().cost;
      }
      put(next.child);
      if (work > this->patience && (work = 0, interrupt.requested())) {
        ending = {.status = Status::stopped};
        break;
      }
    }
    std::sort_heap(found.begin(), found.end());
    for (const std::int32_t r : lanes_.walked) lanes_.value[r] = this->unknown;
    this->forget(one);
    return ending;
  }

 private:
  using Sweep<lane>::lanes_;
  using Sweep<lane>::skeleton_;
  using Sweep<lane>::on_;

  // A bound on all distances below a node.
  double lowest(std::int32_t s, std::int32_t start) const {
    if (skeleton_.begin[on_.topology.first_below[s]] <= start && start < skeleton_.begin[s + 1]) return 0.0;
    const std::int32_t* const list = skeleton_.list_of(s);
    double bound = no_way;
    for (std::int32_t i = 0; i < skeleton_.list_size(s); ++i) bound = std::min(bound, lanes_.value[list[i]]);
    return bound;
  }
};

}  // namespace rhostar
