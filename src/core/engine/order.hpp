// An order of the vertices that keeps neighbors close together in memory, for graphs whose own order scatters them.
// It is invisible outside: searches in it select, generate and break ties as in the user's order.
//
// Only what a search writes follows it (and the heads of the arcs); weights and rho stay where the user has them.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "engine/csr.hpp"
#include "engine/ties.hpp"

namespace rhostar {

// The graph with its vertices renumbered: inner[v] is the new number of v, outer[i] the vertex that has it. The
// arcs of a vertex keep their order among each other, so children are met in the user's order.
struct Order {
  std::vector<std::int32_t> inner, outer, first_out, head, edge;

  Order(const Csr& graph, std::vector<std::int32_t> outer_of)
      : inner(outer_of.size()), outer(std::move(outer_of)), first_out(outer.size() + 1), head(graph.m),
        edge(outer.size()) {
    for (std::int32_t i = 0; i < graph.n; ++i) inner[outer[i]] = i;
    for (std::int32_t i = 0; i < graph.n; ++i) {
      const std::int32_t v = outer[i];
      const std::int32_t begin = graph.first_out[v], count = graph.first_out[v + 1] - begin;
      edge[i] = begin;
      first_out[i + 1] = first_out[i] + count;
      for (std::int32_t k = 0; k < count; ++k) head[first_out[i] + k] = inner[graph.head[begin + k]];
    }
  }

  Csr view() const {
    return {first_out.data(), head.data(), static_cast<std::int32_t>(outer.size()),
            static_cast<std::int32_t>(head.size())};
  }
};

// Place of a cell on the Hilbert curve through a square of 2^16 by 2^16 cells.
inline std::uint32_t along_hilbert(std::uint32_t x, std::uint32_t y) {
  std::uint32_t place = 0;
  for (std::uint32_t half = 1u << 15; half > 0; half >>= 1) {
    const std::uint32_t right = (x & half) != 0, upper = (y & half) != 0;
    place = (place << 2) | ((3 * right) ^ upper);
    if (!upper) {
      if (right) {
        x = ~x & 0xFFFFu;
        y = ~y & 0xFFFFu;
      }
      std::swap(x, y);
    }
  }
  return place;
}

// Vertices along a Hilbert curve; coordinates are n pairs of finite numbers.
inline std::vector<std::int32_t> hilbert_order(const double* coordinates, std::int32_t n) {
  double low[2], high[2];
  for (int axis = 0; axis < 2; ++axis) {
    low[axis] = high[axis] = coordinates[axis];
    for (std::int64_t v = 0; v < n; ++v) {
      low[axis] = std::min(low[axis], coordinates[2 * v + axis]);
      high[axis] = std::max(high[axis], coordinates[2 * v + axis]);
    }
  }
  const double extent = std::max(high[0] - low[0], high[1] - low[1]);
  const double scale = extent > 0 && std::isfinite(extent) ? 65535.0 / extent : 0.0;
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(n));
  for (std::int64_t v = 0; v < n; ++v) {
    const auto x = static_cast<std::uint32_t>((coordinates[2 * v] - low[0]) * scale);
    const auto y = static_cast<std::uint32_t>((coordinates[2 * v + 1] - low[1]) * scale);
    keys[v] = (std::uint64_t{along_hilbert(x, y)} << 32) | static_cast<std::uint32_t>(v);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<std::int32_t> order(keys.size());
  std::transform(keys.begin(), keys.end(), order.begin(),
                 [](std::uint64_t key) { return static_cast<std::int32_t>(key); });
  return order;
}

// Vertices in the order in which a breadth-first search along the arcs meets them, part after part.
inline std::vector<std::int32_t> breadth_first_order(const Csr& graph) {
  std::vector<std::int32_t> order;
  order.reserve(graph.n);
  std::vector<bool> met(graph.n);
  for (std::int32_t start = 0; start < graph.n; ++start) {
    if (met[start]) continue;
    met[start] = true;
    order.push_back(start);
    for (std::size_t next = order.size() - 1; next < order.size(); ++next)
      for (std::int32_t arc = graph.first_out[order[next]]; arc < graph.first_out[order[next] + 1]; ++arc)
        if (!met[graph.head[arc]]) {
          met[graph.head[arc]] = true;
          order.push_back(graph.head[arc]);
        }
  }
  return order;
}

// Mean number of bits of the distance between the ends of an arc: the measure of an order.
inline double scatter(const Csr& graph) {
  std::int64_t bits = 0;
  for (std::int32_t v = 0; v < graph.n; ++v)
    for (std::int32_t arc = graph.first_out[v]; arc < graph.first_out[v + 1]; ++arc)
      bits += std::bit_width(static_cast<std::uint32_t>(std::abs(graph.head[arc] - v)));
  return graph.m ? static_cast<double>(bits) / graph.m : 0.0;
}

// No order of a road network or a grid comes much below this.
constexpr double best_scatter = 3.5;

// Arcs of a renumbered graph with the weights of one instance in the user's order.
template <class W>
struct OrderedArcs {
  static constexpr bool ties_are_vertices = false;
  Csr graph;
  const W* weights;
  const std::int32_t* inner_of;
  const std::int32_t* outer_of;
  const std::int32_t* first_edge;
  std::int64_t shift = 0;

  OrderedArcs(const Order& order, const W* of_instance)
      : graph(order.view()), weights(of_instance), inner_of(order.inner.data()), outer_of(order.outer.data()),
        first_edge(order.edge.data()) {}

  void enter(std::int32_t v) { shift = std::int64_t{first_edge[v]} - graph.first_out[v]; }
  W weight(std::int32_t arc) const { return weights[arc + shift]; }
  std::int64_t edge(std::int32_t arc) const { return arc + shift; }
  std::int32_t inner(std::int32_t v) const { return inner_of[v]; }
  std::int32_t outer(std::int32_t v) const { return outer_of[v]; }
  std::uint64_t tie(std::int32_t v) const { return tie_of(outer_of[v], v); }
  std::int32_t find(std::int32_t tail, std::int32_t other) const {
    std::int32_t arc = graph.first_out[tail];
    while (graph.head[arc] != other) ++arc;
    assert(arc < graph.first_out[tail + 1]);
    return arc;
  }
  void prefetch_row(std::int32_t v) const {
    __builtin_prefetch(graph.head + graph.first_out[v]);
    const W* row = weights + first_edge[v];
    __builtin_prefetch(row);
    __builtin_prefetch(reinterpret_cast<const char*>(row) + 64);
  }
  void prefetch_rho(const double* rho, std::int32_t v) const {
    __builtin_prefetch(outer_of + v);
    __builtin_prefetch(rho + outer_of[v]);
  }
};

// The reversed arcs of a renumbered graph. Those that end at a vertex keep the order of their tails, by the user's
// numbers; edge[arc] is the user's number of an arc.
struct OrderedTranspose {
  std::vector<std::int32_t> first_out, head, edge;

  OrderedTranspose(const Csr& graph, const Order& order) {
    const Transpose users(graph);
    Order turned(users.view(), order.outer);
    edge.resize(turned.head.size());
    for (std::int32_t i = 0; i < graph.n; ++i)
      std::copy_n(users.edge.begin() + turned.edge[i], turned.first_out[i + 1] - turned.first_out[i],
                  edge.begin() + turned.first_out[i]);
    first_out = std::move(turned.first_out);
    head = std::move(turned.head);
  }

  Csr view() const {
    return {first_out.data(), head.data(), static_cast<std::int32_t>(first_out.size()) - 1,
            static_cast<std::int32_t>(head.size())};
  }
};

// These arcs with the weights of one instance in the user's order.
template <class W>
struct OrderedInArcs {
  static constexpr bool ties_are_vertices = false;
  Csr graph;
  const std::int32_t* original;
  const W* weights;
  const std::int32_t* inner_of;
  const std::int32_t* outer_of;

  OrderedInArcs(const OrderedTranspose& transpose, const Order& order, const W* of_instance)
      : graph(transpose.view()), original(transpose.edge.data()), weights(of_instance), inner_of(order.inner.data()),
        outer_of(order.outer.data()) {}

  void enter(std::int32_t) {}
  W weight(std::int32_t arc) const { return weights[original[arc]]; }
  std::int64_t edge(std::int32_t arc) const { return original[arc]; }
  std::int32_t inner(std::int32_t v) const { return inner_of[v]; }
  std::int32_t outer(std::int32_t v) const { return outer_of[v]; }
  std::uint64_t tie(std::int32_t v) const { return tie_of(outer_of[v], v); }
  void prefetch_row(std::int32_t v) const {
    const std::int32_t arc = graph.first_out[v];
    __builtin_prefetch(graph.head + arc);
    __builtin_prefetch(original + arc);
  }
  void prefetch_weight(std::int32_t arc) const { __builtin_prefetch(weights + original[arc]); }
};

}  // namespace rhostar
