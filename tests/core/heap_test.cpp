// The heap against std::set: random operations, ties, -0.0, both arities and both kinds of keys. Prints what failed and
// returns 1, or returns 0; tests/core/test_heap.py builds and runs it.
#include "engine/heap.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <limits>
#include <random>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using rhostar::Heap;
using rhostar::Key;
using rhostar::NarrowKey;
using rhostar::tie_of;

int failures = 0;

void expect(bool good, const char* what, int line) {
  if (good || ++failures > 20) return;
  std::printf("heap_test.cpp:%d: %s\n", line, what);
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)

// What the heap should hold: (score, vertex), in this order. Scores compare as doubles do, so -0.0 equals 0.0.
class Model {
 public:
  explicit Model(std::int32_t n) : score_(static_cast<std::size_t>(n)), inside_(static_cast<std::size_t>(n)) {}

  bool has(std::int32_t v) const { return inside_[static_cast<std::size_t>(v)]; }
  double score(std::int32_t v) const { return score_[static_cast<std::size_t>(v)]; }
  std::size_t size() const { return entries_.size(); }
  std::int32_t top() const { return entries_.begin()->second; }
  void put(std::int32_t v, double score) {
    if (has(v)) entries_.erase({this->score(v), v});
    score_[static_cast<std::size_t>(v)] = score;
    inside_[static_cast<std::size_t>(v)] = true;
    entries_.emplace(score, v);
  }
  void pop() {
    inside_[static_cast<std::size_t>(top())] = false;
    entries_.erase(entries_.begin());
  }
  std::vector<std::int32_t> vertices() const {
    std::vector<std::int32_t> all;
    for (const auto& [score, v] : entries_) all.push_back(v);
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  std::vector<double> score_;
  std::vector<bool> inside_;
  std::set<std::pair<double, std::int32_t>> entries_;
};

template <class K, std::size_t arity>
std::vector<std::int32_t> vertices(const Heap<K, arity>& heap) {
  std::vector<std::int32_t> all;
  for (const K& key : heap) all.push_back(key.vertex());
  std::sort(all.begin(), all.end());
  return all;
}

// Few distinct scores, so that ties are common; both zeros among them.
double draw(std::mt19937_64& random) {
  const auto number = static_cast<double>(random() % 9) - 4.0;
  return number == 0.0 && random() % 2 ? -0.0 : number;
}

// One heap over the memory that earlier ones have left behind.
template <class K, std::size_t arity>
void random_operations(std::vector<K>& storage, std::vector<std::int32_t>& places, std::mt19937_64& random) {
  const auto n = static_cast<std::int32_t>(places.size());
  const auto make = [](double score, std::int32_t v) { return K::make(score, tie_of(v)); };
  Heap<K, arity> heap(storage, places.data());
  Model model(n);
  EXPECT(heap.empty());
  const auto insert_or_decrease = [&] {
    const auto v = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(n));
    const double score = draw(random);
    if (!model.has(v)) {
      heap.push(make(score, v));
      model.put(v, score);
    } else if (score <= model.score(v)) {
      heap.decrease(make(score, v));
      model.put(v, score);
    }
  };
  const auto steps = random() % 400;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const auto choice = random() % 8;
    if (choice < 5 || model.size() == 0) {
      insert_or_decrease();
    } else if (choice < 7) {
      heap.pop();
      model.pop();
    } else {  // what a search does where much is reopened
      heap.vacate();
      model.pop();
      for (auto left = random() % 4; left > 0; --left) insert_or_decrease();
      heap.settle();
    }
    EXPECT(heap.size() == model.size());
    EXPECT(heap.empty() == (model.size() == 0));
    if (model.size() > 0) EXPECT(heap.top() == model.top());
    if (step % 16 == 0) EXPECT(vertices(heap) == model.vertices());
  }
  if (random() % 2)  // the others are left for the destructor
    for (; model.size() > 0; heap.pop(), model.pop()) EXPECT(heap.top() == model.top());
}

template <class K, std::size_t arity>
void test_against_a_set() {
  std::mt19937_64 random(arity);
  for (const std::size_t n : {1, 2, 5, 30, 300}) {
    std::vector<K> storage;
    std::vector<std::int32_t> places(n, -1);  // any content will do
    for (int round = 0; round < 60; ++round) random_operations<K, arity>(storage, places, random);
    for (const K& key : storage) EXPECT(!(key < K::highest()));  // clean for the next heap
  }
}

template <class K, std::size_t arity>
void test_equal_scores_come_out_by_vertex() {
  std::vector<K> storage;
  std::vector<std::int32_t> places(100);
  Heap<K, arity> heap(storage, places.data());
  for (std::int32_t v = 99; v >= 0; --v) heap.push(K::make(v % 2 ? 0.0 : -0.0, tie_of(v)));
  for (std::int32_t v = 0; v < 100; ++v, heap.pop()) EXPECT(heap.top() == v);
  EXPECT(heap.empty());
}

template <class K, std::size_t arity>
void test_all() {
  test_against_a_set<K, arity>();
  test_equal_scores_come_out_by_vertex<K, arity>();
}

// Scores that only wide keys can hold, and ties by the user's number where the search counts otherwise.
void test_wide_keys() {
  const double ordered[] = {-1e308, -2.5, -5e-324, 0.0, 5e-324, 1.0, 1.0000000000000002, 1e308};
  for (std::size_t i = 0; i + 1 < std::size(ordered); ++i) {
    EXPECT(Key::make(ordered[i], tie_of(9)) < Key::make(ordered[i + 1], tie_of(1)));
    EXPECT(!(Key::make(ordered[i + 1], tie_of(1)) < Key::make(ordered[i], tie_of(9))));
  }
  EXPECT(!(Key::make(0.0, tie_of(3)) < Key::make(-0.0, tie_of(3))));
  EXPECT(!(Key::make(-0.0, tie_of(3)) < Key::make(0.0, tie_of(3))));
  EXPECT(Key::make(1.0, tie_of(2, 7)) < Key::make(1.0, tie_of(3, 4)));
  EXPECT(Key::make(1.0, tie_of(2, 7)).vertex() == 7);
}

void test_narrow_keys_hold_what_they_say() {
  for (const double score : {-2147483648.0, -1.0, 0.0, 2147483647.0}) EXPECT(NarrowKey::fits(score));
  for (const double score : {-2147483649.0, 0.5, 2147483648.0, 1e300}) EXPECT(!NarrowKey::fits(score));
  EXPECT(!NarrowKey::fits(std::numeric_limits<double>::quiet_NaN()));
  EXPECT(NarrowKey::make(-2147483648.0, tie_of(5)) < NarrowKey::make(2147483647.0, tie_of(1)));
}

// Asks for what the heap calls undefined: a build with asserts must end here.
int break_contract(std::string_view which) {
  std::vector<Key> storage;
  std::vector<std::int32_t> places(2);
  Heap<Key, 4> heap(storage, places.data());
  if (which == "pop") heap.pop();
  heap.push(Key::make(1.0, tie_of(0)));
  if (which == "push") heap.push(Key::make(2.0, tie_of(0)));
  if (which == "decrease") heap.decrease(Key::make(2.0, tie_of(0)));
  heap.vacate();
  if (which == "top") heap.top();
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) return break_contract(arguments[1]);
  test_all<Key, 4>();
  test_all<Key, 8>();
  test_all<NarrowKey, 4>();
  test_all<NarrowKey, 8>();
  test_wide_keys();
  test_narrow_keys_hold_what_they_say();
  if (failures) std::printf("%d failures\n", failures);
  return failures ? 1 : 0;
}
