// An indexed heap, 4-ary or 8-ary. Its keys define the order: ties.hpp has those of searches, (score, vertex).
//
// The place of every vertex is kept, which makes decrease-key possible: no stale entry is ever in the heap, and its
// size is |OPEN|. A vertex may be in the heap once.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "engine/ties.hpp"

namespace rhostar {

// 1 or 0, for arithmetic.
template <class Key>
std::size_t less(const Key& a, const Key& b) {
  return static_cast<std::size_t>(a < b);
}

template <class Key, std::size_t arity = 4>
class Heap {
 public:
  //! An empty heap that uses the caller's memory. `storage` is empty, or what an earlier heap of the same kind left
  //! behind; `places` has room for every vertex and need not be cleared. One heap at a time may use them.
  Heap(std::vector<Key>& storage, std::int32_t* places) : storage_(storage), places_(places) {
    if (storage_.empty()) storage_.assign(64, nothing);
    keys_ = storage_.data();
  }
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  //! Leaves `storage` as the next heap needs it; costs what is still in the heap.
  ~Heap() { std::fill(keys_, keys_ + size_, nothing); }

  //! Whether no key is in the heap.
  bool empty() const { return size_ == 0; }
  //! The number of keys in the heap. Between vacate() and settle() the vacant top counts as one, until it is filled.
  std::size_t size() const { return size_; }
  //! The vertex with the least key. Undefined if empty, or between vacate() and settle().
  std::int32_t top() const {
    assert(size_ > 0 && !vacant_);
    return keys_[0].vertex();
  }
  //! All keys, in no particular order. Not between vacate() and settle(); any change of the heap ends the iteration.
  const Key* begin() const { return keys_; }
  const Key* end() const { return keys_ + size_; }

  //! Inserts a key. Undefined if its vertex is in the heap already: use decrease().
  // Inlined by force, as rise() is: with many kernels in one file the compiler stops inlining, and a key that is passed
  // in two registers then goes through memory, which takes longer than the rest.
  [[gnu::always_inline]] void push(Key key) {
    assert(!has(key.vertex()));
    if (vacant_) {
      vacant_ = false;
      replace_top(key);
      return;
    }
    if (size_ + arity > storage_.size()) grow();
    rise(size_++, key);
  }

  //! Replaces the key of a vertex that is in the heap. Undefined if the new key is larger than the old one.
  [[gnu::always_inline]] void decrease(Key key) {
    assert(has(key.vertex()) && !(keys_[places_[key.vertex()]] < key));
    rise(static_cast<std::size_t>(places_[key.vertex()]), key);
  }

  //! Removes the least key. Undefined if empty.
  void pop() {
    assert(size_ > 0 && !vacant_);
    // The last key fills the gap at the top. It belongs near the bottom, so the gap is first moved all the way down, in
    // a number of steps that is easy to predict, and the key rises from there.
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

  //! Instead of pop(): removes the least key and keeps its place free for the next key that is pushed, which saves
  //! most of both where that key is among the least. Call settle() before top(), pop() or vacate(). Undefined if empty.
  void vacate() {
    assert(size_ > 0 && !vacant_);
    keys_[0] = Key::lowest();  // below all others, so that none rises into the place
    vacant_ = true;
  }
  //! Ends what vacate() began: closes the gap at the top if no key was pushed. Does nothing if there is none.
  void settle() {
    if (!vacant_) return;
    vacant_ = false;
    pop();
  }

 private:
  // Fills the storage behind the last key, so that groups need not check where the heap ends.
  static constexpr Key nothing = Key::highest();

  // For contracts alone: places of vertices that were never in the heap are arbitrary.
  bool has(std::int32_t v) const {
    const auto place = static_cast<std::size_t>(places_[v]);
    return place < size_ && !(vacant_ && place == 0) && keys_[place].vertex() == v;
  }

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

  [[gnu::always_inline]] void rise(std::size_t gap, Key key) {
    Key* keys = keys_;
    while (gap > 0) {
      const std::size_t parent = (gap - 1) / arity;
      if (!(key < keys[parent])) break;
      put(keys, gap, keys[parent]);
      gap = parent;
    }
    put(keys, gap, key);
  }

  // Not inlined: it is rare if no vertex is reopened, and its registers are needed in the loop.
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
