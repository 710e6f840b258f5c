// The floor under a search: the same expansions in the same order, reading only what cannot be avoided.
//
// floor_edges reads the heads and weights of every expanded vertex; floor_compare also reads each child's g and
// compares, as every shortest-path search must. No heap, no bookkeeping. Called through ctypes.
#include <cstdint>

extern "C" double floor_edges(const std::int32_t* first_out, const std::int32_t* head, const double* weights,
                              const std::int32_t* expanded, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int32_t arc = first_out[expanded[i]]; arc < first_out[expanded[i] + 1]; ++arc)
      sum += weights[arc] + head[arc];
  return sum;
}

extern "C" std::int64_t floor_compare(const std::int32_t* first_out, const std::int32_t* head, const double* weights,
                                      const std::int32_t* expanded, std::int64_t count, const double* g) {
  std::int64_t improvements = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double here = g[expanded[i]];
    for (std::int32_t arc = first_out[expanded[i]]; arc < first_out[expanded[i] + 1]; ++arc)
      improvements += here + weights[arc] < g[head[arc]];
  }
  return improvements;
}
