// Weights of the edges, and lengths of the arcs of a hierarchy.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "engine/csr.hpp"
#include "engine/status.hpp"
#include "hierarchy/minplus.hpp"
#include "hierarchy/topology.hpp"

namespace rhostar {

// Memory that is written completely, so it is not initialized.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t size)
      : size_(size), data_(static_cast<T*>(std::aligned_alloc(64, (size * sizeof(T) / 64 + 1) * 64))) {
    if (!data_) throw std::bad_alloc();
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  std::size_t size_;
  std::unique_ptr<T, Free> data_;
};

// What customizing makes.
struct Costs {
  Buffer<double> weight;  // of each edge, and +inf after them
  Buffer<Pair> length;    // of each arc
  Buffer<Pair> base;      // of each arc of the top: its length without what ranks of the top offer
  bool large = false;     // whether sums of weights may overflow

  // Where these costs come from. Every content has a version of its own; if it was made from another one by an update,
  // that one has version `made_from`, and differs at most in these edges and arcs, and, if so said, in the whole top.
  std::uint64_t version = 0, made_from = 0;
  std::vector<std::int32_t> edges, arcs;
  bool top_differs = false;

  explicit Costs(const Topology& topology)
      : weight(static_cast<std::size_t>(topology.graph.m) + 1),
        length(static_cast<std::size_t>(topology.skeleton.arcs())), base(static_cast<std::size_t>(topology.top.arcs)) {}
  std::size_t bytes() const { return weight.size() * sizeof(double) + (length.size() + base.size()) * sizeof(Pair); }

  //! From other costs of the same skeleton.
  void copy(const Costs& other) {
    std::copy(other.weight.data(), other.weight.data() + weight.size(), weight.data());
    std::copy(other.length.data(), other.length.data() + length.size(), length.data());
    std::copy(other.base.data(), other.base.data() + base.size(), base.data());
    large = other.large;
  }
  //! The same, if these are those that the other ones were made from.
  void catch_up(const Costs& other, const Topology& topology) {
    for (const std::int32_t e : other.edges) weight.data()[e] = other.weight.data()[e];
    for (const std::int32_t arc : other.arcs) length.data()[arc] = other.length.data()[arc];
    if (other.top_differs) {
      const auto& first = topology.skeleton.first;
      for (const std::int32_t s : topology.top.nodes)
        std::copy(other.length.data() + first[topology.skeleton.begin[s]],
                  other.length.data() + first[topology.skeleton.begin[s + 1]],
                  length.data() + first[topology.skeleton.begin[s]]);
      std::copy(other.base.data(), other.base.data() + base.size(), base.data());
    }
    large = other.large;
  }
  //! Before or after the content changes: a version that nothing else has.
  void renew() {
    static std::atomic<std::uint64_t> last{0};
    version = ++last;
    made_from = 0;
    edges.clear();
    arcs.clear();
    top_differs = false;
  }
};

// Whether the sum of all weights is finite. If it is not, a path could cost more than the largest double; the offender
// is the edge at which the sum overflows.
inline Ending check_sum(const double* weights, std::int64_t m) {
  double sum = 0.0;
  for (std::int64_t e = 0; e < m; ++e) {
    if (weights[e] < no_way) sum += weights[e];
    if (sum == no_way) return {.status = Status::overflow, .offender = e};
  }
  return {};
}

// Weights up to here cannot overflow in any sum over a path.
inline double most_harmless(const Csr& graph) { return std::numeric_limits<double>::max() / std::max(graph.n, 1); }

// Copies a row of weights. Fails for the first that is negative or NaN, for one with which a path could cost more than
// the largest double, and with `no_path` if all are infinite.
template <class W>
Ending take_weights(const W* weights, const Csr& graph, Costs& costs) {
  constexpr std::int64_t block = 4096;
  double* const copy = costs.weight.data();
  const double most = most_harmless(graph);
  bool large = false, some = graph.m == 0;
  for (std::int64_t begin = 0; begin < graph.m; begin += block) {
    const std::int64_t end = std::min<std::int64_t>(graph.m, begin + block);
    bool bad = false;
    for (std::int64_t e = begin; e < end; ++e) {
      const double weight = static_cast<double>(weights[e]) + 0.0;  // no -0.0: minima would depend on the order
      copy[e] = weight;
      bad |= is_bad(weights[e]);
      some |= weight < no_way;
      large |= (weight > most) & (weight < no_way);
    }
    if (bad)
      for (std::int64_t e = begin; e < end; ++e)
        if (is_bad(weights[e])) return {.status = Status::bad_weight, .offender = e};
  }
  copy[graph.m] = no_way;
  if (!some) return {.status = Status::no_path};
  costs.large = large;
  return large ? check_sum(copy, graph.m) : Ending{};
}

}  // namespace rhostar
