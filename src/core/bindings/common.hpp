// What all bindings share: the graph as Python holds it, arrays in and out, and interrupts.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "best_first.hpp"
#include "csr.hpp"
#include "workspace.hpp"

namespace nb = nanobind;

namespace rhostar::bindings {

using Indices = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Positions = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Tables = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
// Weights come in several types; `with_weights` finds out which.
using Row = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Snapshots = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

// Arguments that the Python side must explain: wrong length, vertex out of range, unknown dtype.
constexpr int bad_input = 7;

// A graph that Python made and validated: it keeps the arrays alive and owns what queries reuse.
struct Graph {
  Indices first_out, head;
  Csr csr;
  std::unique_ptr<Transpose> transpose;  // made on first use, under the interpreter lock
  WorkspacePool pool;

  Graph(Indices offsets, Indices heads)
      : first_out(std::move(offsets)),
        head(std::move(heads)),
        csr{first_out.data(), head.data(), static_cast<std::int32_t>(first_out.size() - 1),
            static_cast<std::int32_t>(head.size())} {}

  bool has_vertex(std::int64_t v) const { return 0 <= v && v < csr.n; }
  const Transpose& transposed() {
    if (!transpose) transpose = std::make_unique<Transpose>(csr);
    return *transpose;
  }
};

// One flag that ends all the searches that share it.
struct Stop {
  std::atomic<bool> flag{false};
};

// Asked by the kernels every so often; takes the interpreter lock at most every 50 ms to see to signals.
class PythonInterrupt final : public Interrupt {
 public:
  explicit PythonInterrupt(Stop* stop) : stop_(stop) {}

  bool requested() override {
    if (stop_ && stop_->flag.load(std::memory_order_relaxed)) return true;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return false;
    last_ = now;
    nb::gil_scoped_acquire lock;
    raised_ = PyErr_CheckSignals() != 0;
    return raised_;
  }

  // With the interpreter lock held again: pass on what a signal handler raised.
  void raise_if_signalled() const {
    if (raised_) nb::raise_python_error();
  }

 private:
  Stop* stop_;
  bool raised_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Calls f with a typed pointer to the weights; false for a type that is not accepted.
template <class Array, class F>
bool with_weights(const Array& weights, F&& f) {
  const auto type = weights.dtype();
  if (type == nb::dtype<double>()) f(static_cast<const double*>(weights.data()));
  else if (type == nb::dtype<float>()) f(static_cast<const float*>(weights.data()));
  else if (type == nb::dtype<std::int32_t>()) f(static_cast<const std::int32_t*>(weights.data()));
  else if (type == nb::dtype<std::int64_t>()) f(static_cast<const std::int64_t*>(weights.data()));
  else return false;
  return true;
}

// Hands a vector to numpy without copying it.
template <class T>
nb::object to_numpy(std::vector<T>&& values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner).cast();
}

void bind_csr(nb::module_& module, nb::class_<Graph>& graph);
void bind_best_first(nb::class_<Graph>& graph);

}  // namespace rhostar::bindings
