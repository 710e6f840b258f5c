// The tie-breaking rule (Assumption 2 of the paper): OPEN is ordered by (score, vertex). Among equal scores the
// smaller vertex is selected, by the user's number, and -0.0 equals 0.0.
//
// The heap uses it through its keys, order.hpp through `tie_of`, and symbolic.hpp and pieces.hpp, which compare scores
// in other ways, through `wins_tie` and `later_goes_first`. The Python reference (search/reference.py) states it again.
#pragma once

#include <bit>
#include <cstdint>

namespace rhostar {

// Whether v is selected rather than u when their scores are equal.
constexpr bool wins_tie(std::int32_t v, std::int32_t u) { return v < u; }

// The same for vertices that are looked at in increasing order: a later one is selected rather than an earlier one only
// if its score is less, since it loses the tie.
template <class Score>
constexpr bool later_goes_first(Score later, Score earlier) {
  return later < earlier;
}

// The rule as one number: of two equal scores the one with the smaller tie goes first. Its lower half is the vertex as
// the search counts it. Where that is not the user's number, the user's number goes above it and decides.
constexpr std::uint64_t tie_of(std::int32_t v) { return static_cast<std::uint32_t>(v); }
constexpr std::uint64_t tie_of(std::int32_t users, std::int32_t v) { return tie_of(users) << 32 | tie_of(v); }
constexpr std::int32_t vertex_of(std::uint64_t tie) { return static_cast<std::int32_t>(tie); }

// A score as bits that are ordered as unsigned integers. Adding 0.0 turns -0.0 into 0.0: the two must tie.
inline std::uint64_t ordered_bits(double score) {
  const auto bits = std::bit_cast<std::uint64_t>(score + 0.0);
  const auto sign = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> 63);
  return bits ^ (sign | (std::uint64_t{1} << 63));
}

__extension__ using uint128 = unsigned __int128;

// (score, tie) in 128 bits whose unsigned order is the order of the pair: one comparison without a branch decides both.
struct Key {
  std::uint64_t low;   // the tie
  std::uint64_t high;  // the score

  static constexpr bool fits(double) { return true; }
  static constexpr Key lowest() { return {0, 0}; }
  static constexpr Key highest() { return {~std::uint64_t{0}, ~std::uint64_t{0}}; }
  static Key make(double score, std::uint64_t tie) { return {tie, ordered_bits(score)}; }
  std::int32_t vertex() const { return vertex_of(low); }
  bool operator<(const Key& other) const {
    return ((uint128{high} << 64) | low) < ((uint128{other.high} << 64) | other.low);
  }
};

// The same in 64 bits, for scores that are integers below 2^31 in size: half the memory, shorter comparisons.
struct NarrowKey {
  std::uint64_t bits;

  static bool fits(double score) {
    return score >= -2147483648.0 && score < 2147483648.0 && static_cast<std::int32_t>(score) == score;
  }
  static constexpr NarrowKey lowest() { return {0}; }
  static constexpr NarrowKey highest() { return {~std::uint64_t{0}}; }
  // `tie` is a vertex here, below 2^31.
  static NarrowKey make(double score, std::uint64_t tie) {
    const auto shifted = static_cast<std::uint32_t>(static_cast<std::int32_t>(score)) ^ 0x80000000u;
    return {(std::uint64_t{shifted} << 32) | tie};
  }
  std::int32_t vertex() const { return vertex_of(bits); }
  bool operator<(const NarrowKey& other) const { return bits < other.bits; }
};

}  // namespace rhostar
