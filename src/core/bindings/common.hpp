// What all bindings share: the graph object of Python, arrays in, results out, and interrupts.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "engine/best_first.hpp"
#include "engine/csr.hpp"
#include "engine/distances.hpp"
#include "engine/order.hpp"
#include "engine/prices.hpp"
#include "engine/workspace.hpp"
#include "potentials.hpp"

namespace nb = nanobind;

namespace rhostar::bindings {

using Indices = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Positions = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Tables = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Coordinates = nb::ndarray<const double, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
// Weights come in several types; `with_weights` finds out which.
using Row = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Snapshots = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

// A value that is made on first use. Threads that arrive at the same time each make one, and the first one finished is
// kept. There is no lock, so a fork in the middle leaves none behind.
template <class T>
class Lazy {
 public:
  Lazy() = default;
  Lazy(const Lazy&) = delete;
  Lazy& operator=(const Lazy&) = delete;
  ~Lazy() { delete made_.load(); }

  template <class... Arguments>
  const T& get(const Arguments&... arguments) {
    if (const T* made = made_.load(std::memory_order_acquire)) return *made;
    auto mine = std::make_unique<const T>(arguments...);
    const T* first = nullptr;
    return made_.compare_exchange_strong(first, mine.get()) ? *mine.release() : *first;
  }

 private:
  std::atomic<const T*> made_{nullptr};
};

// A graph that Python made and validated: it keeps the arrays alive and owns what queries reuse.
struct Graph {
  Indices first_out, head;
  Csr csr;
  std::unique_ptr<Order> order;  // if one was chosen that keeps neighbors closer together
  Lazy<Transpose> transpose;
  Lazy<OrderedTranspose> ordered_transpose;  // if there is an order
  WorkspacePool pool;

  Graph(Indices offsets, Indices heads)
      : first_out(std::move(offsets)), head(std::move(heads)),
        csr{first_out.data(), head.data(), static_cast<std::int32_t>(first_out.size() - 1),
            static_cast<std::int32_t>(head.size())} {}

  bool has_vertex(std::int64_t v) const { return 0 <= v && v < csr.n; }
  const Transpose& transposed() { return transpose.get(csr); }

  // Calls f with the arcs for searches against them, in the order that keeps neighbors together. Their weights are
  // data.
  template <class W, class F>
  void with_arcs_against(const W* data, F&& f) {
    if (!order) return f(InArcs<W>{transposed().view(), transposed().edge.data(), data});
    f(OrderedInArcs<W>(ordered_transpose.get(csr, *order), *order, data));
  }
};

// A potential that Python made and validated, with the arrays that it reads. Potentials differ in what they store;
// searches use all of them through this type.
struct SharedPotential {
  std::vector<std::shared_ptr<void>> arrays;  // nanobind's handles to them
  std::unique_ptr<const Potential> potential;
  const Potential& get() const { return *potential; }
};

template <class... Arrays>
SharedPotential sharing(std::unique_ptr<const Potential> potential, const Arrays&... arrays) {
  return {{std::make_shared<Arrays>(arrays)...}, std::move(potential)};
}

// The weights of one query, with the arrays that they read.
struct QueryPrices {
  Prices of;
  std::int64_t edges = 0;
  std::vector<std::shared_ptr<void>> arrays;
};

// One flag that ends all the searches that share it.
struct Stop {
  std::atomic<bool> flag{false};
};

// For the end of the interpreter: a thread that returns from a kernel while Python shuts down would be killed in the
// middle of C++ frames, which aborts the process. So at exit the searches of other threads are stopped and waited for,
// and no new ones release the interpreter lock.
struct Shutdown {
  static inline std::atomic<bool> begun{false};
  static inline std::atomic<int> unlocked{0};  // kernels that run without the lock, or are about to take it
  static inline std::thread::id main{};

  static bool for_this_thread() { return begun.load() && std::this_thread::get_id() != main; }

  static void begin() {
    main = std::this_thread::get_id();
    begun.store(true);
    nb::gil_scoped_release release;
    for (int i = 0; i < 2000 && unlocked.load() > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};

// The interpreter lock is not held while one of these lives.
class Unlocked {
 public:
  Unlocked() {
    if (Shutdown::for_this_thread()) return;
    Shutdown::unlocked.fetch_add(1);
    release_.emplace();
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked() {
    if (!release_) return;
    release_.reset();
    Shutdown::unlocked.fetch_sub(1);
  }

 private:
  std::optional<nb::gil_scoped_release> release_;
};

// What the kernels ask from time to time. It takes the interpreter lock at most every 50 ms to check for signals.
class PythonInterrupt : public Interrupt {
 public:
  explicit PythonInterrupt(Stop* stop) : stop_(stop) {}

  bool requested() override {
    if (stop_ && stop_->flag.load(std::memory_order_relaxed)) return true;
    if (Shutdown::for_this_thread()) return true;
    const auto now = std::chrono::steady_clock::now();
    if (last_ == std::chrono::steady_clock::time_point{}) last_ = now;
    if (now - last_ < std::chrono::milliseconds(50)) return false;
    last_ = now;
    nb::gil_scoped_acquire lock;
    raised_ = PyErr_CheckSignals() != 0 || !report();
    return raised_;
  }

  // With the interpreter lock held again: pass on what a signal handler raised.
  void raise_if_signalled() const {
    if (raised_) nb::raise_python_error();
  }

 protected:
  // Shows how far the kernel has come, with the interpreter lock held; false if that failed with a Python error.
  virtual bool report() { return true; }

 private:
  Stop* stop_;
  bool raised_ = false;
  std::chrono::steady_clock::time_point last_{};  // of the first question: most queries end before it
};

// The same for a single query, which keeps the interpreter lock until it is first asked: releasing it and taking it
// again would take a noticeable part of a query of a microsecond.
class LateUnlock final : public PythonInterrupt {
 public:
  using PythonInterrupt::PythonInterrupt;
  bool requested() override {
    if (!unlocked_) unlocked_.emplace();
    return PythonInterrupt::requested();
  }
  void lock() { unlocked_.reset(); }

 private:
  std::optional<Unlocked> unlocked_;
};

template <class T>
bool is_aligned(const T* data) {
  return reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0;
}

inline bool is_table(const Table& table, std::size_t n) { return table.size() == n && is_aligned(table.data()); }

// Calls f with a typed pointer to the weights; false for a type that is not accepted or is not aligned.
template <class Array, class F>
bool with_weights(const Array& weights, F&& f) {
  const auto call = [&](const auto* data) {
    if (!is_aligned(data)) return false;
    f(data);
    return true;
  };
  const auto type = weights.dtype();
  if (type == nb::dtype<double>()) return call(static_cast<const double*>(weights.data()));
  if (type == nb::dtype<float>()) return call(static_cast<const float*>(weights.data()));
  if (type == nb::dtype<std::int32_t>()) return call(static_cast<const std::int32_t*>(weights.data()));
  if (type == nb::dtype<std::int64_t>()) return call(static_cast<const std::int64_t*>(weights.data()));
  return false;
}

// Whether each of `rows` is one of the snapshots, which have a weight for each arc.
inline bool are_snapshots(const Graph& graph, const Snapshots& weights, const Positions& rows) {
  bool good =
      weights.shape(1) == static_cast<std::size_t>(graph.csr.m) && (weights.stride(1) == 1 || weights.shape(1) <= 1);
  for (std::size_t i = 0; good && i < rows.size(); ++i)
    good = rows(i) >= 0 && rows(i) < static_cast<std::int64_t>(weights.shape(0));
  return good;
}

// ---------------------------------------------------------------- results

// Results are classes with read-only attributes, one for each call; each has an `ending`. Unsuitable arguments are an
// ending, too: wrong length, vertex out of range, unknown type.
template <class Result>
Result bad_input() {
  Result result;
  result.ending.status = Status::bad_input;
  return result;
}

// Shows a vector of a result as an array attribute, without copying; the array keeps the result alive.
template <auto member, class Result>
void bind_array(nb::class_<Result>& type, const char* name) {
  type.def_prop_ro(name, [](nb::handle_t<Result> self) {
    auto& values = nb::inst_ptr<Result>(self)->*member;
    using T = typename std::remove_reference_t<decltype(values)>::value_type;
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(values.data(), {values.size()}, self).cast();
  });
}

// A class of results with its ending.
template <class Result>
nb::class_<Result> bind_result(nb::module_& module, const char* name) {
  nb::class_<Result> type(module, name);
  type.def_ro("ending", &Result::ending);
  return type;
}

// Hands a vector to numpy without copying it.
template <class T>
nb::object to_numpy(std::vector<T>&& values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner).cast();
}

using GraphClass = nb::class_<Graph>;

void bind_status(nb::module_& module);
void bind_csr(nb::module_& module, GraphClass& graph);
void bind_best_first(nb::module_& module, GraphClass& graph);
void bind_potentials(nb::module_& module);
void bind_guide(nb::module_& module, GraphClass& graph);
void bind_reprice(nb::module_& module, GraphClass& graph);
void bind_hierarchy(nb::module_& module, GraphClass& graph);
void bind_query(nb::module_& module, GraphClass& graph);
void bind_time_of_day(nb::module_& module, GraphClass& graph);
void bind_links(nb::module_& module);
void bind_labels(GraphClass& graph);
void bind_flow(nb::module_& module);
void bind_optimal_path(nb::module_& module, GraphClass& graph);
void bind_survey(nb::module_& module);
void bind_text(nb::module_& module);
void bind_pieces(nb::module_& module, GraphClass& graph);
void bind_ranking(nb::module_& module, GraphClass& graph);

}  // namespace rhostar::bindings
