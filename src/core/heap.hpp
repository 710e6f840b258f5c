// An indexed 4-ary heap ordered by (score, vertex): equal scores go to the smaller vertex (Assumption 2).
//
// A key packs the pair into 128 bits whose unsigned order is the order of the pair, so one comparison
// without a branch decides both score and tie. The place of every vertex is kept, which makes decrease-key
// possible: no stale entry is ever in the heap, and its size is |OPEN|.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rhostar {

__extension__ using uint128 = unsigned __int128;

struct Key {
  std::uint64_t low;   // what decides ties; its lower half is the vertex
  std::uint64_t high;  // the score, its bits arranged so that they order as unsigned integers

  // Adding 0.0 turns -0.0 into 0.0: the two are equal scores and must tie.
  static Key make(double score, std::uint64_t tie) {
    const auto bits = std::bit_cast<std::uint64_t>(score + 0.0);
    const auto sign = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> 63);
    return {tie, bits ^ (sign | (std::uint64_t{1} << 63))};
  }
  std::int32_t vertex() const { return static_cast<std::int32_t>(low); }
  bool operator<(const Key& other) const {
    return ((uint128{high} << 64) | low) < ((uint128{other.high} << 64) | other.low);
  }
};

// 1 or 0, for arithmetic: a branch on the outcome would be mispredicted half of the time.
inline std::size_t less(const Key& a, const Key& b) { return static_cast<std::size_t>(a < b); }

class Heap {
 public:
  // `places` has room for every vertex and need not be cleared.
  Heap(std::vector<Key>& storage, std::int32_t* places) : keys_(storage), places_(places) { keys_.clear(); }

  bool empty() const { return keys_.empty(); }
  std::size_t size() const { return keys_.size(); }
  std::int32_t top() const { return keys_.front().vertex(); }
  const std::vector<Key>& keys() const { return keys_; }

  void push(Key key) {
    if (vacant_) {
      vacant_ = false;
      replace_top(key);
      return;
    }
    keys_.push_back(key);
    rise(keys_.size() - 1, key);
  }

  // `key` must not be larger than the one the vertex has.
  void decrease(Key key) { rise(static_cast<std::size_t>(places_[key.vertex()]), key); }

  // The last key fills the gap at the top. It belongs near the bottom, so the gap is moved all the way down
  // first, by a number of steps that is easy to predict, and the key rises from there.
  void pop() {
    const Key key = keys_.back();
    keys_.pop_back();
    const std::size_t size = keys_.size();
    if (size == 0) return;
    Key* keys = keys_.data();
    std::size_t gap = 0;
    std::size_t first = 1;
    while (first + arity <= size) {
      const std::size_t least = least_of_four(keys, first);
      put(keys, gap, keys[least]);
      gap = least;
      first = arity * gap + 1;
    }
    if (first < size) {
      const std::size_t least = least_of_last(keys, first, size);
      put(keys, gap, keys[least]);
      gap = least;
    }
    rise(gap, key);
  }

  // Instead of pop(): the top leaves its place to the next key that is pushed, which saves most of both where
  // that key is among the least. settle() must follow before the next top is asked for.
  void vacate() {
    keys_.front() = Key{0, 0};  // below all others, so that none rises into the place
    vacant_ = true;
  }
  void settle() {
    if (!vacant_) return;
    vacant_ = false;
    pop();
  }

 private:
  static constexpr std::size_t arity = 4;

  static std::size_t least_of_four(const Key* keys, std::size_t first) {
    const std::size_t left = first + less(keys[first + 1], keys[first]);
    const std::size_t right = first + 2 + less(keys[first + 3], keys[first + 2]);
    return left ^ ((left ^ right) & -less(keys[right], keys[left]));
  }

  static std::size_t least_of_last(const Key* keys, std::size_t first, std::size_t size) {
    std::size_t least = first;
    for (std::size_t k = first + 1; k < size; ++k) least = keys[k] < keys[least] ? k : least;
    return least;
  }

  void put(Key* keys, std::size_t place, Key key) {
    keys[place] = key;
    places_[key.vertex()] = static_cast<std::int32_t>(place);
  }

  void rise(std::size_t gap, Key key) {
    Key* keys = keys_.data();
    while (gap > 0) {
      const std::size_t parent = (gap - 1) / arity;
      if (!(key < keys[parent])) break;
      put(keys, gap, keys[parent]);
      gap = parent;
    }
    put(keys, gap, key);
  }

  // Not inlined: it is rare where no vertex is reopened, and its registers would be missed in the loop.
  [[gnu::noinline]] void replace_top(Key key) {
    const std::size_t size = keys_.size();
    Key* keys = keys_.data();
    std::size_t gap = 0;
    for (;;) {
      const std::size_t first = arity * gap + 1;
      if (first >= size) break;
      const std::size_t least =
          first + arity <= size ? least_of_four(keys, first) : least_of_last(keys, first, size);
      if (!(keys[least] < key)) break;
      put(keys, gap, keys[least]);
      gap = least;
    }
    put(keys, gap, key);
  }

  std::vector<Key>& keys_;
  std::int32_t* places_;
  bool vacant_ = false;
};

}  // namespace rhostar
