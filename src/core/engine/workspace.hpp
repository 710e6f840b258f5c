// The records that a search keeps about each vertex; they are reused, so a query pays only for vertices it touches.
//
// Records are never cleared: they carry the generation of the query that wrote them, and anything older
// counts as unseen. A workspace belongs to one query at a time; a pool hands them out without locks, so a
// fork in the middle of another thread's query leaves the child with at worst one workspace fewer.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "engine/heap.hpp"

namespace rhostar {

struct Node {
  double g;
  std::int32_t parent;
  std::uint32_t stamp;  // generation: in OPEN; generation + 1: in CLOSED; anything less: unseen
};
static_assert(sizeof(Node) == 16);

// What a search against the arcs leaves behind, and what it needs on the way (distances.hpp).
struct Reached {
  struct Entry {
    double g;
    std::int32_t vertex;
  };
  std::vector<double> distance;             // of each vertex, as the search counts them; +inf if it was not reached
  std::vector<std::vector<Entry>> buckets;  // all empty between two searches
  std::vector<Entry> current, far;
};

class Workspace {
 public:
  // calloc: pages that no query reaches are never touched.
  explicit Workspace(std::int32_t n)
      : size_(static_cast<std::size_t>(n)), nodes_(static_cast<Node*>(std::calloc(size_, sizeof(Node)))),
        places_(static_cast<std::int32_t*>(std::malloc(size_ * sizeof(std::int32_t)))) {
    if (!nodes_ || !places_) throw std::bad_alloc();
  }
  static constexpr std::size_t bytes_per_vertex = sizeof(Node) + sizeof(std::int32_t);

  std::size_t size() const { return size_; }  // of the largest graph that it serves
  Node* nodes() { return nodes_.get(); }
  template <class K, std::size_t arity>
  Heap<K, arity> heap() {
    if constexpr (std::is_same_v<K, Key>) return Heap<K, arity>(keys_, places_.get());
    else return Heap<K, arity>(narrow_keys_, places_.get());
  }
  Reached& reached() { return reached_; }
  std::uint32_t generation() const { return generation_; }
  // Later generations only: an earlier one would make old records valid again.
  void age(std::uint32_t generation) { generation_ = std::max(generation_, generation & ~1u); }

  // Start a query: everything written before becomes unseen.
  void begin() {
    next_generation();
    blank_ = false;
  }

  // The same, and g is NaN for every vertex that this query has not written: no g_new is >= NaN, so one comparison
  // separates unseen and improved vertices from the rest. The query must note each vertex that it writes, once.
  void begin_blank() {
    next_generation();
    if (!blank_) {
      noted_.resize(size_);
      for (std::size_t v = 0; v < size_; ++v) nodes_[v].g = std::numeric_limits<double>::quiet_NaN();
    }
    for (std::size_t i = 0; i < note_count_; ++i) nodes_[noted_[i]].g = std::numeric_limits<double>::quiet_NaN();
    blank_ = true;
    note_count_ = 0;
  }
  void note(std::int32_t v) {
    assert(blank_ && note_count_ < noted_.size());
    noted_[note_count_++] = v;
  }

 private:
  static constexpr std::uint32_t last_generation = 0xFFFFFFFCu;
  void next_generation() {
    if (generation_ >= last_generation) {
      std::memset(static_cast<void*>(nodes_.get()), 0, size_ * sizeof(Node));
      generation_ = 0;
      blank_ = false;
    }
    generation_ += 2;
  }
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };

  std::size_t size_;
  std::unique_ptr<Node[], Free> nodes_;
  // Apart from the nodes: the heap writes places all the time, and sixteen of them share a cache line.
  std::unique_ptr<std::int32_t[], Free> places_;
  std::vector<Key> keys_;
  std::vector<NarrowKey> narrow_keys_;
  std::uint32_t generation_ = 0;
  bool blank_ = false;  // whether g is NaN but for the vertices noted
  std::vector<std::int32_t> noted_;
  std::size_t note_count_ = 0;
  Reached reached_;
};

class WorkspacePool {
 public:
  WorkspacePool() = default;
  WorkspacePool(const WorkspacePool&) = delete;
  WorkspacePool& operator=(const WorkspacePool&) = delete;
  ~WorkspacePool() {
    for (auto& slot : idle_) delete slot.load();
  }

  std::unique_ptr<Workspace> take(std::int32_t n) {
    for (auto& slot : idle_)
      if (Workspace* found = slot.exchange(nullptr)) return std::unique_ptr<Workspace>(found);
    return std::make_unique<Workspace>(n);
  }

  void give_back(std::unique_ptr<Workspace> workspace) {
    for (auto& slot : idle_) {
      Workspace* empty = nullptr;
      if (slot.compare_exchange_strong(empty, workspace.get())) {
        workspace.release();
        return;
      }
    }  // more threads at once than slots: let it go
  }

 private:
  std::array<std::atomic<Workspace*>, 32> idle_{};
};

class Lease {
 public:
  Lease(WorkspacePool& pool, std::int32_t n) : pool_(pool), workspace_(pool.take(n)) {}
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() {
    if (std::uncaught_exceptions() == 0) pool_.give_back(std::move(workspace_));  // else not in order: no memory
  }
  Workspace& operator*() { return *workspace_; }

 private:
  WorkspacePool& pool_;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace rhostar
