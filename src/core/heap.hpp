// An indexed 4-ary heap ordered by (score, vertex): equal scores go to the smaller vertex (Assumption 2).
//
// A key packs the pair into 128 bits whose unsigned order is the order of the pair, so one comparison
// without a branch decides both score and tie. Positions are kept in the records of the vertices, which
// makes decrease-key possible: no stale entry is ever in the heap, and its size is |OPEN|.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rhostar {

__extension__ using uint128 = unsigned __int128;

struct Key {
  std::uint64_t low;   // the vertex
  std::uint64_t high;  // the score, its bits arranged so that they order as unsigned integers

  // Adding 0.0 turns -0.0 into 0.0: the two are equal scores and must tie.
  static Key make(double score, std::int32_t vertex) {
    const auto bits = std::bit_cast<std::uint64_t>(score + 0.0);
    const auto sign = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> 63);
    return {static_cast<std::uint32_t>(vertex), bits ^ (sign | (std::uint64_t{1} << 63))};
  }
  std::int32_t vertex() const { return static_cast<std::int32_t>(low); }
  bool operator<(const Key& other) const {
    return ((uint128{high} << 64) | low) < ((uint128{other.high} << 64) | other.low);
  }
};

// Position: callable (vertex) -> std::int32_t&, where the heap keeps a vertex's place.
template <class Position>
class Heap {
 public:
  Heap(std::vector<Key>& storage, Position position) : keys_(storage), position_(position) {
    keys_.clear();
  }

  bool empty() const { return keys_.empty(); }
  std::size_t size() const { return keys_.size(); }
  std::int32_t top() const { return keys_.front().vertex(); }
  const std::vector<Key>& keys() const { return keys_; }

  void push(Key key) {
    keys_.push_back(key);
    sift_up(keys_.size() - 1, key);
  }

  // `key` must not be larger than the key at `place`.
  void decrease(std::int32_t place, Key key) { sift_up(static_cast<std::size_t>(place), key); }

  void pop() {
    const Key key = keys_.back();
    keys_.pop_back();
    const std::size_t size = keys_.size();
    if (size == 0) return;
    Key* keys = keys_.data();
    std::size_t hole = 0;
    for (;;) {
      const std::size_t first = arity * hole + 1;
      if (first >= size) break;
      std::size_t least = first;
      if (first + arity <= size) {
        for (std::size_t k = first + 1; k < first + arity; ++k) least = keys[k] < keys[least] ? k : least;
      } else {
        for (std::size_t k = first + 1; k < size; ++k) least = keys[k] < keys[least] ? k : least;
      }
      if (!(keys[least] < key)) break;
      place(keys, hole, keys[least]);
      hole = least;
    }
    place(keys, hole, key);
  }

 private:
  static constexpr std::size_t arity = 4;

  void place(Key* keys, std::size_t hole, Key key) {
    keys[hole] = key;
    position_(key.vertex()) = static_cast<std::int32_t>(hole);
  }

  void sift_up(std::size_t hole, Key key) {
    Key* keys = keys_.data();
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / arity;
      if (!(key < keys[parent])) break;
      place(keys, hole, keys[parent]);
      hole = parent;
    }
    place(keys, hole, key);
  }

  std::vector<Key>& keys_;
  Position position_;
};

}  // namespace rhostar
