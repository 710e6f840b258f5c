// The costs from every vertex to one goal: a search against the arcs.
//
// Only the costs are needed, so vertices need not be taken strictly in their order. They are kept in buckets,
// each for a range of costs, and a bucket is emptied in the order in which it was filled:
//
//    near:  [ 3.0, 3.5 )  [ 3.5, 4.0 )  ...  [ 34.5, 35.0 )      far: everything beyond
//             ^ this one is emptied; what it improves goes to the buckets after it, or to its own end
//
// A vertex that is improved after it was taken is taken again. So in the end each cost is the minimum over all paths of
// the sum along the path, rounded step by step; Dijkstra's search gives the same, bit for bit, since adding a weight
// never makes the larger of two sums the smaller one. The advantage is that the next vertices are known: what they will
// read is prefetched, where a heap would wait for it.
//
// The width of a bucket decides how much work is done twice, and nothing else. Where it turns out badly, and where a
// weight is bad or too large, the search with a heap starts from scratch; it also names the weight.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "engine/best_first.hpp"

namespace rhostar {

constexpr std::size_t bucket_count = 64;  // a power of 2

// Sums of two numbers up to here are finite; if they are integers, they are exact, or not below the limit of costs.
template <class W>
constexpr double largest_summand = std::is_integral_v<W> ? 0x1p53 - 1 : 0x1p1022;

// Whether a weight needs a closer look: it is absent, bad, too large to be added without one, or -0.0.
template <class W>
constexpr bool is_odd(W weight) {
  if constexpr (std::is_same_v<W, double>) {
    return std::bit_cast<std::uint64_t>(weight) > std::bit_cast<std::uint64_t>(largest_summand<W>);
  } else if constexpr (std::is_same_v<W, float>) {
    return std::bit_cast<std::uint32_t>(weight) >= std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity());
  } else {
    return is_bad(weight);
  }
}

// A width that suits most of the weights, from a sample of them. If it is below the minimum weight, nothing is done
// twice; a tenth of the weights below it cost little. Some are zero or close to it: then it is a part of what is usual.
template <class W>
double bucket_width(const W* weights, std::int32_t m) {
  constexpr std::int32_t most = 256;
  std::array<double, most> sample;
  std::size_t count = 0;
  double sum = 0.0;
  for (std::int32_t i = 0; i < std::min(m, most); ++i) {
    const W weight = weights[std::int64_t{i} * m / std::min(m, most)];
    if (is_odd(weight)) continue;
    sample[count++] = static_cast<double>(weight);
    sum += static_cast<double>(weight) / most;
  }
  if (count == 0 || !(sum > 0)) return 1.0;
  const auto quantile = [&](std::size_t rank) {
    std::nth_element(sample.begin(), sample.begin() + rank, sample.begin() + count);
    return sample[rank];
  };
  return std::max({quantile(count / 10), quantile(count / 2) / 8, sum / 64});
}

// `unfit` if the search with a heap must do it. Leaves the costs in `reached`.
template <class Arcs>
Status search_by_buckets(const Arcs& arcs, std::int32_t goal, Interrupt* interrupt, Reached& reached) {
  constexpr std::int64_t patience = 1 << 16;  // arcs between two looks at the interrupt
  constexpr std::size_t ahead = 6;            // vertices between one step of fetching and the next
  constexpr double largest_slot = 0x1p52;     // slots below it are exact

  using Weight = std::remove_cvref_t<decltype(arcs.weight(0))>;
  const Csr graph = arcs.graph;
  auto& [distance, buckets, current, far] = reached;
  distance.assign(static_cast<std::size_t>(graph.n), infinity);
  buckets.resize(bucket_count);
  assert(std::all_of(buckets.begin(), buckets.end(), [](const auto& bucket) { return bucket.empty(); }));
  const double width = bucket_width(arcs.weights, graph.m), per_width = 1.0 / width;
  if (!(per_width > 0.0 && per_width < infinity)) return Status::unfit;
  const auto give_up = [&](Status status) {
    for (auto& bucket : buckets) bucket.clear();
    current.clear();
    far.clear();
    return status;
  };

  double* const costs = distance.data();
  std::int64_t countdown = patience;
  // Half of the vertices may be taken twice. A look at one that is far away costs a sixteenth of that.
  std::int64_t credit = 16 * (std::int64_t{graph.n} + graph.n / 2 + 1024);
  std::size_t waiting = 1;  // entries in buckets
  double slot = 0.0;        // of the bucket that is emptied
  costs[goal] = 0.0;
  buckets[0].push_back({0.0, goal});
  for (;;) {
    if (waiting == 0) {
      // The nearest of those far away decides where to continue. Some of them were improved in the meantime.
      std::erase_if(far, [&](const Reached::Entry& entry) { return entry.g != costs[entry.vertex]; });
      if (far.empty()) return Status::done;
      credit -= static_cast<std::int64_t>(far.size());
      double least = infinity;
      for (const auto& entry : far) least = std::min(least, entry.g);
      slot = std::floor(least * per_width);
      if (!(slot < largest_slot) || credit < 0) return give_up(Status::unfit);
      std::erase_if(far, [&](const Reached::Entry& entry) {
        const double place = entry.g * per_width;
        if (!(place - slot < bucket_count)) return false;
        buckets[static_cast<std::uint64_t>(place) % bucket_count].push_back(entry);
        ++waiting;
        return true;
      });
    }
    auto& bucket = buckets[static_cast<std::uint64_t>(slot) % bucket_count];
    while (!bucket.empty()) {
      std::swap(current, bucket);
      const std::size_t size = current.size();
      const Reached::Entry* entries = current.data();
      waiting -= size;
      for (std::size_t i = 0; i < size; ++i) {
        if (i + 3 * ahead < size) {
          __builtin_prefetch(graph.first_out + entries[i + 3 * ahead].vertex);
          __builtin_prefetch(costs + entries[i + 3 * ahead].vertex);
        }
        if (i + 2 * ahead < size) arcs.prefetch_row(entries[i + 2 * ahead].vertex);
        if (i + ahead < size) {
          const std::int32_t next = entries[i + ahead].vertex;
          for (std::int32_t arc = graph.first_out[next]; arc < graph.first_out[next + 1]; ++arc) {
            __builtin_prefetch(costs + graph.head[arc]);
            arcs.prefetch_weight(arc);
          }
        }
        const auto [g, v] = entries[i];
        if (g != costs[v]) continue;  // improved since: its other entry counts
        credit -= 16;
        if (g > largest_summand<Weight>) return give_up(Status::unfit);
        const std::int32_t begin = graph.first_out[v], end = graph.first_out[v + 1];
        countdown -= std::int64_t{end} - begin + 1;
        if (countdown < 0) {
          if (interrupt && interrupt->requested()) return give_up(Status::stopped);
          countdown = patience;
        }
        for (std::int32_t arc = begin; arc < end; ++arc) {
          const auto weight = arcs.weight(arc);
          if (is_odd(weight)) {
            if (is_absent(weight)) continue;
            if (weight != 0) return give_up(Status::unfit);
          }
          const double g_new = g + static_cast<double>(weight);
          const std::int32_t c = graph.head[arc];
          if (!(g_new < costs[c])) continue;
          costs[c] = g_new;
          const double place = g_new * per_width;
          if (place - slot < bucket_count) {
            buckets[static_cast<std::uint64_t>(place) % bucket_count].push_back({g_new, c});
            ++waiting;
          } else {
            far.push_back({g_new, c});
          }
        }
      }
      current.clear();
      if (credit < 0) return give_up(Status::unfit);
    }
    if (waiting > 0) slot += 1.0;
  }
}

// One search against the arcs, from the goal to everywhere: afterwards distance_in(arcs, workspace) has the costs.
// `goal` is the user's number.
template <class Arcs>
Ending search_against(const Arcs& arcs, std::int32_t goal, Interrupt* interrupt, Workspace& workspace) {
  Reached& reached = workspace.reached();
  const std::int32_t start = arcs.inner(goal);
  const Status status = search_by_buckets(arcs, start, interrupt, reached);
  if (status == Status::done) return {};
  if (status == Status::stopped) return {.status = status};
  NoLog log;
  Options options;
  options.interrupt = interrupt;
  const Outcome out = search(arcs, DijkstraRule{}, start, -1, options, workspace, log);
  // With no goal to arrive at, running out of vertices is success.
  if (out.status != Status::no_path) return {.status = out.status, .offender = out.offender};
  const Node* nodes = workspace.nodes();
  for (std::int32_t v = 0; v < arcs.graph.n; ++v)
    reached.distance[v] = nodes[v].stamp >= workspace.generation() ? nodes[v].g : infinity;
  return {};
}

// A function that gives the cost of a vertex in the last search of a workspace, +inf if it was not reached. It takes
// the user's numbers.
template <class Arcs>
auto distance_in(const Arcs& arcs, Workspace& workspace) {
  return [arcs, costs = workspace.reached().distance.data()](std::int32_t v) { return costs[arcs.inner(v)]; };
}

}  // namespace rhostar
