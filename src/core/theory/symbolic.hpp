// Symbolic execution of both algorithms over all rho: finds every joint behavior of some instances, each once.
//
// A node of the tree is a set of rho, given by difference bounds, on which all decisions so far are the same.
// Where several vertices of OPEN can have the lowest score, there is a branch for each: "v is selected" says for every
// other u in OPEN that g_v + rho_v < g_u + rho_u, or <= if v wins the tie. The instances run one after the other under
// the same bounds; the leaves are the joint behaviors.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/best_first.hpp"
#include "engine/ties.hpp"

namespace rhostar::symbolic {

// An upper bound on rho_i - rho_j over the reals: 2c + 1 says "at most c", 2c says "below c".
using Bound = std::int64_t;
constexpr Bound unbounded = Bound{1} << 61;
constexpr Bound at_most(std::int64_t c) { return 2 * c + 1; }
constexpr Bound below(std::int64_t c) { return 2 * c; }
constexpr Bound sum(Bound a, Bound b) { return a + b - ((a | b) & 1); }
// The sum of the bounds along a cycle must not be below 0, nor "below 0" in the strict sense.
constexpr bool holds(Bound circle) { return circle >= at_most(0); }

constexpr int most_vertices = 64;
using Set = std::uint64_t;

// One instance, its children in index order; an absent arc weighs -1 in `matrix`.
struct Instance {
  std::int32_t source = 0;
  std::vector<std::int32_t> first, head;
  std::vector<std::int64_t> weight, matrix;
};

struct Problem {
  std::int32_t n = 0, goal = 0;
  bool greedy = false, reopen = true;
  std::vector<Instance> instances;
};

// What is measured of a run: fields of the public Run.
enum Measure { cost, expanded, generated, reopened, peak_open, measures };

// Both algorithms on one instance, given which vertex of OPEN comes next.
struct Search {
  std::int64_t g[most_vertices];
  std::int32_t parent[most_vertices];
  Set open = 0, closed = 0;
  std::int64_t counts[measures];

  void begin(const Instance& instance) {
    open = Set{1} << instance.source;
    closed = 0;
    g[instance.source] = 0;
    parent[instance.source] = -1;
    std::fill(std::begin(counts), std::end(counts), 0);
    counts[generated] = counts[peak_open] = 1;
  }

  // One iteration with v selected; true if it ends the run.
  bool step(const Problem& problem, const Instance& instance, std::int32_t v) {
    if (!problem.greedy && v == problem.goal) return true;
    ++counts[expanded];
    const Set self = Set{1} << v;
    for (std::int32_t e = instance.first[v]; e < instance.first[v + 1]; ++e) {
      const std::int32_t c = instance.head[e];
      const Set child = Set{1} << c;
      const std::int64_t g_new = g[v] + instance.weight[e];
      if (problem.greedy && c == problem.goal) {
        parent[c] = v;
        return true;
      }
      if (!((open | closed) & child)) {
        open |= child;
        ++counts[generated];
      } else if (problem.greedy || g_new >= g[c]) {
        continue;
      } else if (closed & child) {
        if (!problem.reopen) continue;
        closed &= ~child;
        open |= child;
        ++counts[generated];
        ++counts[reopened];
      }
      g[c] = g_new;
      parent[c] = v;
    }
    open &= ~self;
    closed |= self;
    counts[peak_open] = std::max<std::int64_t>(counts[peak_open], std::popcount(open));
    return false;
  }

  // After the last step. Along the pointers: g of the goal may be older than theirs.
  void add_up_cost(const Problem& problem, const Instance& instance) {
    for (std::int32_t v = problem.goal; parent[v] >= 0; v = parent[v])
      counts[cost] += instance.matrix[parent[v] * problem.n + v];
  }
};

// A node: the bounds, closed under addition, the state of the current instance and the results of those before.
struct Node {
  std::vector<Bound> bound;
  Search search;
  std::int32_t instance = 0;
  double share = 1.0;                 // of the tree, by halves at each branching
  std::vector<std::int64_t> results;  // measures of the instances finished, one after the other
};

struct Report {
  Ending ending;  // `limit` if there are more leaves than that
  std::int64_t leaves = 0;
  double explored = 0.0;
  std::vector<std::int64_t> prefix;  // joint behaviours of the first 1, 2, ... instances
};

class Explorer {
 public:
  explicit Explorer(const Problem& problem) : problem_(problem), n_(problem.n) {
    report.prefix.assign(problem.instances.size(), 0);
  }

  Report report;

  // Calls visit(node) at each leaf, depth first, the smallest selected vertex first.
  template <class Visit>
  void run(std::int64_t limit, Interrupt* interrupt, Visit&& visit) {
    auto root = take();
    root->bound.assign(static_cast<std::size_t>(n_) * n_, unbounded);
    for (std::int32_t v = 0; v < n_; ++v) root->bound[v * n_ + v] = at_most(0);
    root->results.assign(problem_.instances.size() * measures, 0);
    root->instance = 0;
    root->share = 1.0;
    root->search.begin(problem_.instances[0]);
    stack_.push_back(std::move(root));
    std::int64_t steps = 0;
    while (!stack_.empty()) {
      auto node = std::move(stack_.back());
      stack_.pop_back();
      for (;;) {
        if ((++steps & 1023) == 0 && interrupt && interrupt->requested()) {
          report.ending.status = Status::stopped;
          return;
        }
        const Set choices = selectable(*node);
        if (!std::has_single_bit(choices)) {
          branch(*node, choices);
          break;
        }
        // The branches cover the node's set: a single one is all of it and needs no bounds.
        const Instance& instance = problem_.instances[node->instance];
        if (!node->search.step(problem_, instance, std::countr_zero(choices))) continue;
        if (next_instance(*node)) continue;
        if (report.leaves == limit) {
          report.ending.status = Status::limit;
          return;
        }
        ++report.leaves;
        report.explored += node->share;
        visit(*node);
        break;
      }
      pool_.push_back(std::move(node));
    }
  }

 private:
  const Problem& problem_;
  const std::int32_t n_;
  std::vector<std::unique_ptr<Node>> stack_, pool_;

  std::unique_ptr<Node> take() {
    if (pool_.empty()) return std::make_unique<Node>();
    auto node = std::move(pool_.back());
    pool_.pop_back();
    return node;
  }

  // The bound on rho_v - rho_u that "v rather than u" asks for.
  Bound preference(const Node& node, std::int32_t v, std::int32_t u) const {
    const std::int64_t c = problem_.greedy ? 0 : node.search.g[u] - node.search.g[v];
    return wins_tie(v, u) ? at_most(c) : below(c);
  }

  // All new bounds of a selection begin at the same vertex, so a cycle uses at most one of them: each may be checked
  // alone.
  Set selectable(const Node& node) const {
    if (std::has_single_bit(node.search.open)) return node.search.open;
    Set found = 0;
    for (Set left = node.search.open; left; left &= left - 1) {
      const std::int32_t v = std::countr_zero(left);
      bool possible = true;
      for (Set others = node.search.open & ~(Set{1} << v); others && possible; others &= others - 1) {
        const std::int32_t u = std::countr_zero(others);
        const Bound back = node.bound[u * n_ + v];
        possible = back == unbounded || holds(sum(preference(node, v, u), back));
      }
      if (possible) found |= Set{1} << v;
    }
    return found;
  }

  void branch(Node& node, Set choices) {
    const double share = node.share / std::popcount(choices);
    const auto first = stack_.size();
    for (Set left = choices; left; left &= left - 1) {
      auto child = take();
      *child = node;
      child->share = share;
      const std::int32_t v = std::countr_zero(left);
      tighten(*child, v);
      stack_.push_back(std::move(child));
    }
    std::reverse(stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
  }

  // Add the bounds of "v is selected" and close: first the row of v, then what goes through v.
  void tighten(Node& node, std::int32_t v) const {
    Bound* row = node.bound.data() + v * n_;
    Bound updated[most_vertices];
    std::copy(row, row + n_, updated);
    for (Set others = node.search.open & ~(Set{1} << v); others; others &= others - 1) {
      const std::int32_t u = std::countr_zero(others);
      const Bound wanted = preference(node, v, u);
      const Bound* from = node.bound.data() + u * n_;
      for (std::int32_t b = 0; b < n_; ++b)
        if (from[b] != unbounded) updated[b] = std::min(updated[b], sum(wanted, from[b]));
    }
    std::copy(updated, updated + n_, row);
    for (std::int32_t a = 0; a < n_; ++a) {
      const Bound to_v = node.bound[a * n_ + v];
      if (a == v || to_v == unbounded) continue;
      Bound* target = node.bound.data() + a * n_;
      for (std::int32_t b = 0; b < n_; ++b)
        if (row[b] != unbounded) target[b] = std::min(target[b], sum(to_v, row[b]));
    }
  }

  // Store the results of the run and continue with the next instance; false if there is none.
  bool next_instance(Node& node) {
    node.search.add_up_cost(problem_, problem_.instances[node.instance]);
    std::copy(std::begin(node.search.counts), std::end(node.search.counts),
              node.results.begin() + static_cast<std::ptrdiff_t>(node.instance) * measures);
    ++report.prefix[node.instance];
    if (++node.instance == static_cast<std::int32_t>(problem_.instances.size())) return false;
    node.search.begin(problem_.instances[node.instance]);
    return true;
  }
};

// A point of the node's set, in units of 2^-bits: "below c" is met by c less one unit. A cycle has at most n bounds, so
// with 2^bits > n no cycle that reals can satisfy becomes impossible. The smallest value is 0.
inline void witness(const std::vector<Bound>& bound, std::int32_t n, int bits, std::int64_t* rho) {
  std::fill(rho, rho + n, 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::int32_t i = 0; i < n; ++i)
      for (std::int32_t j = 0; j < n; ++j) {
        const Bound b = bound[i * n + j];
        if (b == unbounded || i == j) continue;
        const std::int64_t value = rho[j] + ((b >> 1) << bits) - ((b & 1) ? 0 : 1);
        if (value < rho[i]) {
          rho[i] = value;
          changed = true;
        }
      }
  }
  const std::int64_t least = *std::min_element(rho, rho + n);
  for (std::int32_t i = 0; i < n; ++i) rho[i] -= least;
}

// One measure of one run with values of rho in units of 2^-bits: exact, and quick on few vertices. -1 without a path.
inline std::int64_t measure_run(const Problem& problem, const Instance& instance, const std::int64_t* rho, int bits,
                                Measure measure) {
  const auto score = [&](const Search& search, std::int32_t v) {
    return problem.greedy ? rho[v] : (search.g[v] << bits) + rho[v];
  };
  Search search;
  search.begin(instance);
  while (search.open) {
    std::int32_t v = std::countr_zero(search.open);
    std::int64_t least = score(search, v);
    for (Set left = search.open & (search.open - 1); left; left &= left - 1) {
      const std::int32_t u = std::countr_zero(left);
      if (const std::int64_t other = score(search, u); later_goes_first(other, least)) v = u, least = other;
    }
    if (!search.step(problem, instance, v)) continue;
    search.add_up_cost(problem, instance);
    return search.counts[measure];
  }
  return -1;
}

struct VectorHash {
  std::size_t operator()(const std::vector<std::int64_t>& values) const {
    std::uint64_t h = 0x9e3779b97f4a7c15ull;
    for (const std::int64_t v : values) {
      h ^= static_cast<std::uint64_t>(v);
      h *= 0xff51afd7ed558ccdull;
      h ^= h >> 32;
    }
    return static_cast<std::size_t>(h);
  }
};

// Distinct vectors of one measure, in the order in which they are met, each with its first rho.
struct Vectors {
  std::unordered_map<std::vector<std::int64_t>, std::int64_t, VectorHash> index;
  std::vector<std::int64_t> values, rho;
  std::vector<std::int64_t> key;

  void add(const Node& node, Measure measure, std::int32_t n, int bits) {
    key.clear();
    for (std::size_t i = measure; i < node.results.size(); i += measures) key.push_back(node.results[i]);
    if (!index.emplace(key, static_cast<std::int64_t>(index.size())).second) return;
    values.insert(values.end(), key.begin(), key.end());
    rho.resize(rho.size() + n);
    witness(node.bound, n, bits, rho.data() + rho.size() - n);
  }
};

}  // namespace rhostar::symbolic
