// Two searches for the same fixed queries, whose instructions are counted one against the other: the core's, and
// the A* of a textbook (lazy deletion over std::priority_queue, arrays cleared for each query).
//
//     instructions core|textbook consistent|noisy SIDE
//
// on a grid of SIDE x SIDE vertices prints the cost of the path; tests/test_instructions.py runs it under callgrind.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <queue>
#include <string_view>
#include <vector>

#include "engine/best_first.hpp"

namespace {

struct Query {
  std::int32_t side;
  std::vector<std::int32_t> first_out, head;
  std::vector<double> weights, rho;
  std::int32_t source = 10 * side + 10, goal = (side - 20) * side + side - 30;
};

// A number in [0, 1) that depends on nothing but its argument.
double scatter(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1.0p-53;
}

// A grid with 8 neighbors and scattered weights; rho is the straight line, or scattered around 1.3 of it.
Query make(bool noisy, std::int32_t side) {
  Query q{.side = side};
  q.first_out.push_back(0);
  for (std::int32_t r = 0; r < side; ++r)
    for (std::int32_t c = 0; c < side; ++c) {
      for (std::int32_t dr = -1; dr <= 1; ++dr)
        for (std::int32_t dc = -1; dc <= 1; ++dc) {
          const std::int32_t row = r + dr, column = c + dc;
          if ((dr == 0 && dc == 0) || row < 0 || row >= side || column < 0 || column >= side) continue;
          q.head.push_back(row * side + column);
          q.weights.push_back(std::hypot(dr, dc) * (1 + scatter(q.head.size())));
        }
      q.first_out.push_back(static_cast<std::int32_t>(q.head.size()));
      const double straight = std::hypot(r - q.goal / side, c - q.goal % side);
      const double factor = noisy ? 1.3 * (0.8 + 0.4 * scatter(1u << 30 | static_cast<unsigned>(r * side + c))) : 1;
      q.rho.push_back(factor * straight);
    }
  return q;
}

}  // namespace

extern "C" [[gnu::noinline]] double search_core(const Query& q, rhostar::Workspace& workspace) {
  const rhostar::OutArcs<double> arcs{
      {q.first_out.data(), q.head.data(), q.side * q.side, static_cast<std::int32_t>(q.head.size())}, q.weights.data()};
  rhostar::NoLog log;
  std::vector<std::int32_t> path;
  return rhostar::query(arcs, rhostar::AStarRule{q.rho.data()}, q.source, q.goal, {}, workspace, log, path).cost;
}

extern "C" [[gnu::noinline]] double search_textbook(const Query& q) {
  const std::size_t n = q.rho.size();
  std::vector<double> g(n, std::numeric_limits<double>::infinity());
  std::vector<std::int32_t> parent(n, -1);
  std::vector<char> closed(n, 0);
  using Entry = std::pair<double, std::int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  g[q.source] = 0;
  open.emplace(q.rho[q.source], q.source);
  while (!open.empty()) {
    const auto [score, v] = open.top();
    open.pop();
    if (closed[v]) continue;
    if (v == q.goal) return g[v];
    closed[v] = 1;
    for (std::int32_t arc = q.first_out[v]; arc < q.first_out[v + 1]; ++arc) {
      const std::int32_t c = q.head[arc];
      const double reached = g[v] + q.weights[arc];
      if (reached < g[c]) {
        g[c] = reached;
        parent[c] = v;
        closed[c] = 0;  // reopening
        open.emplace(reached + q.rho[c], c);
      }
    }
  }
  return std::numeric_limits<double>::infinity();
}

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const std::int32_t side = std::atoi(arguments[3]);
  const Query q = make(std::string_view(arguments[2]) == "noisy", side);
  rhostar::Workspace workspace(side * side);
  const bool core = std::string_view(arguments[1]) == "core";
  std::printf("%.17g\n", core ? search_core(q, workspace) : search_textbook(q));
}
