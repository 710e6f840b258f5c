// An indexed heap, 4-ary or 8-ary, ordered by (score, vertex): equal scores go to the smaller vertex (Assumption 2).
//
// A key packs the pair into 128 bits whose unsigned order is the order of the pair, so one comparison
// without a branch decides both score and tie. The place of every vertex is kept, which makes decrease-key
// possible: no stale entry is ever in the heap, and its size is |OPEN|.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace rhostar {

__extension__ using uint128 = unsigned __int128;

struct Key {
  static constexpr bool fits(double) { return true; }
  static constexpr Key lowest() { return {0, 0}; }
  static constexpr Key highest() { return {~std::uint64_t{0}, ~std::uint64_t{0}}; }

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
  std::int32_t vertex() const { return static_cast<std::int32_t>(bits); }
  bool operator<(const NarrowKey& other) const { return bits < other.bits; }
};

// 1 or 0, for arithmetic.
template <class Key>
std::size_t less(const Key& a, const Key& b) {
  return static_cast<std::size_t>(a < b);
}

template <class Key, std::size_t arity = 4>
class Heap {
 public:
  // `storage` holds nothing but `nothing` between heaps, so that groups need no look at where the heap
  // ends; `places` has room for every vertex and need not be cleared.
  Heap(std::vector<Key>& storage, std::int32_t* places) : storage_(storage), places_(places) {
    if (storage_.empty()) storage_.assign(64, nothing);
    keys_ = storage_.data();
  }
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap() { std::fill(keys_, keys_ + size_, nothing); }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::int32_t top() const { return keys_[0].vertex(); }
  const Key* begin() const { return keys_; }
  const Key* end() const { return keys_ + size_; }

  void push(Key key) {
    if (vacant_) {
      vacant_ = false;
      replace_top(key);
      return;
    }
    if (size_ + arity > storage_.size()) grow();
    rise(size_++, key);
  }

  // `key` must not be larger than the one the vertex has.
  void decrease(Key key) { rise(static_cast<std::size_t>(places_[key.vertex()]), key); }

  // The last key fills the gap at the top. It belongs near the bottom, so the gap is moved all the way down
  // first, by a number of steps that is easy to predict, and the key rises from there.
  void pop() {
    const std::size_t size = --size_;
    Key* keys = keys_;
    const Key key = keys[size];
    keys[size] = nothing;
    if (size == 0) return;
    std::size_t gap = 0;
    for (std::size_t first = 1; first < size; first = arity * gap + 1) {
      const std::size_t least = least_of_group(keys, first);
      put(keys, gap, keys[least]);
      gap = least;
    }
    rise(gap, key);
  }

  // Instead of pop(): the top leaves its place to the next key that is pushed, which saves most of both where
  // that key is among the least. settle() must follow before the next top is asked for.
  void vacate() {
    keys_[0] = Key::lowest();  // below all others, so that none rises into the place
    vacant_ = true;
  }
  void settle() {
    if (!vacant_) return;
    vacant_ = false;
    pop();
  }

 private:
  static constexpr Key nothing = Key::highest();

  // Without branches, which would be mispredicted half of the time; and for the keys of searches without loading the
  // winners of the first round once more, because the next level of the heap has to wait for it.
  static std::size_t least_of_group(const Key* keys, std::size_t first) {
    if constexpr (arity == 8) return first + least_of_eight(keys + first);
    else return first + least_of_four(keys + first);
  }
  static std::size_t least_of_four(const Key* keys) {
    const std::size_t i = less(keys[1], keys[0]), j = less(keys[3], keys[2]);
    const std::size_t left = i, right = 2 + j;
    if constexpr (std::is_same_v<Key, rhostar::Key>) {
      const Key a{i ? keys[1].low : keys[0].low, i ? keys[1].high : keys[0].high};
      const Key b{j ? keys[3].low : keys[2].low, j ? keys[3].high : keys[2].high};
      return left ^ ((left ^ right) & -less(b, a));
    } else {
      return left ^ ((left ^ right) & -less(keys[right], keys[left]));
    }
  }

  struct Candidate {
    Key key;
    std::size_t place;
  };
  static Candidate lesser(const Candidate& a, const Candidate& b) {
    const bool second = b.key < a.key;
    if constexpr (std::is_same_v<Key, rhostar::Key>)
      return {{second ? b.key.low : a.key.low, second ? b.key.high : a.key.high}, second ? b.place : a.place};
    else return {{second ? b.key.bits : a.key.bits}, second ? b.place : a.place};
  }
  static std::size_t least_of_eight(const Key* keys) {
    const auto at = [keys](std::size_t i) { return Candidate{keys[i], i}; };
    const Candidate left = lesser(lesser(at(0), at(1)), lesser(at(2), at(3)));
    const Candidate right = lesser(lesser(at(4), at(5)), lesser(at(6), at(7)));
    return right.key < left.key ? right.place : left.place;
  }

  [[gnu::noinline]] void grow() {
    storage_.resize(2 * storage_.size(), nothing);
    keys_ = storage_.data();
  }

  void put(Key* keys, std::size_t place, Key key) {
    keys[place] = key;
    places_[key.vertex()] = static_cast<std::int32_t>(place);
  }

  void rise(std::size_t gap, Key key) {
    Key* keys = keys_;
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
    Key* keys = keys_;
    std::size_t gap = 0;
    for (std::size_t first = 1; first < size_; first = arity * gap + 1) {
      const std::size_t least = least_of_group(keys, first);
      if (!(keys[least] < key)) break;
      put(keys, gap, keys[least]);
      gap = least;
    }
    put(keys, gap, key);
  }

  std::vector<Key>& storage_;
  std::int32_t* places_;
  Key* keys_;
  std::size_t size_ = 0;
  bool vacant_ = false;
};

}  // namespace rhostar
