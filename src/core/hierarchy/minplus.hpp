// The inner loop of customizing: a small dense product in which products are sums and sums are minima.
//
// best[r][j] = min(best[r][j], factor[rows * c + r] + column[c][j]) over all c < count, for from <= j < to, and one or
// two rows r. A number is a pair of lengths, up and down. Wider vectors give the same bits, and the processor that runs
// the program decides which are used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace rhostar {

using Pair = double __attribute__((vector_size(16)));  // {up, down}

constexpr double no_way = std::numeric_limits<double>::infinity();
constexpr Pair no_ways{no_way, no_way};

[[gnu::always_inline]] inline Pair least(Pair a, Pair b) { return a < b ? a : b; }
[[gnu::always_inline]] inline Pair swapped(Pair a) { return Pair{a[1], a[0]}; }

namespace minplus {

using Product = void (*)(const Pair* const* column, const Pair* factor, std::int32_t count, std::int32_t from,
                         std::int32_t to, Pair* const* best);

// Eight walks up the hierarchy at once: known[place[i]] = min(known[place[i]], one + row_one[i], two + row_two[i]), in
// which `one` and `two` are eight numbers each, and so is what is known about a place. Of a row, the lane is taken.
constexpr int pairs_together = 4;
using Spread = void (*)(const Pair* one, const Pair* two, const Pair* row_one, const Pair* row_two, int lane,
                        const std::int32_t* place, std::int32_t count, Pair* known);

struct Products {
  Product one, two;
  Spread spread;
};

namespace narrow {
using Vector = Pair;
#include "hierarchy/minplus_body.hpp"
}  // namespace narrow

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
namespace wide {
using Vector = double __attribute__((vector_size(32)));
#include "hierarchy/minplus_body.hpp"
}  // namespace wide
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

// Whether processor and system know vectors of four numbers. Not every compiler has __builtin_cpu_supports at link
// time.
inline bool has_avx2() {
  constexpr unsigned saved_by_system = 1u << 27, avx2 = 1u << 5, both_halves = 6;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & saved_by_system)) return false;
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & both_halves) == both_halves && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & avx2);
}

inline Products choose() {
  static const bool is_wide = has_avx2();
  return is_wide ? Products{wide::one, wide::two, wide::spread} : Products{narrow::one, narrow::two, narrow::spread};
}

#else

inline Products choose() { return {narrow::one, narrow::two, narrow::spread}; }

#endif

}  // namespace minplus

}  // namespace rhostar
