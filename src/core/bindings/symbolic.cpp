#include "symbolic.hpp"

#include "common.hpp"
#include "shatter.hpp"

namespace rhostar::bindings {

namespace {

using Matrices = nb::ndarray<const std::int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Ranks = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Interrupts as everywhere, and a Python function told every so often how far the tree is explored.
class Progress final : public Interrupt {
 public:
  Progress(Stop* stop, nb::object call, const symbolic::Report& report)
      : interrupt_(stop), call_(std::move(call)), report_(report) {}

  bool requested() override {
    if (raised_ || interrupt_.requested()) return true;
    const auto now = std::chrono::steady_clock::now();
    if (call_.is_none() || now - last_ < std::chrono::milliseconds(200)) return false;
    last_ = now;
    nb::gil_scoped_acquire lock;
    try {
      call_(report_.leaves, report_.explored);
    } catch (nb::python_error& error) {
      error.restore();
      raised_ = true;
    }
    return raised_;
  }

  void raise_if_signalled() const {
    interrupt_.raise_if_signalled();
    if (raised_) nb::raise_python_error();
  }

 private:
  PythonInterrupt interrupt_;
  nb::object call_;
  const symbolic::Report& report_;
  bool raised_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

symbolic::Problem make_problem(const Matrices& weights, const Indices& sources, std::int64_t goal, bool greedy,
                               bool reopen) {
  symbolic::Problem problem;
  problem.n = static_cast<std::int32_t>(weights.shape(1));
  problem.goal = static_cast<std::int32_t>(goal);
  problem.greedy = greedy;
  problem.reopen = reopen;
  const std::int32_t n = problem.n;
  for (std::size_t i = 0; i < weights.shape(0); ++i) {
    symbolic::Instance& instance = problem.instances.emplace_back();
    instance.source = sources(i);
    const std::int64_t* from = weights.data() + i * static_cast<std::size_t>(n) * n;
    instance.matrix.assign(from, from + static_cast<std::size_t>(n) * n);
    instance.first.push_back(0);
    for (std::int32_t v = 0; v < n; ++v) {
      for (std::int32_t c = 0; c < n; ++c) {
        if (instance.matrix[v * n + c] < 0) continue;
        instance.head.push_back(c);
        instance.weight.push_back(instance.matrix[v * n + c]);
      }
      instance.first.push_back(static_cast<std::int32_t>(instance.head.size()));
    }
  }
  return problem;
}

// (status, leaves, explored, prefix, values, rho): values of all measures at each leaf where `measure` is -1, else
// the distinct vectors of that measure; rho in units of 2^-bits.
nb::tuple explore(Matrices weights, Indices sources, std::int64_t goal, bool greedy, bool reopen, std::int64_t limit,
                  int measure, int bits, nb::object progress, Stop* stop) {
  const auto n = static_cast<std::int64_t>(weights.shape(1));
  bool fits = weights.shape(2) == weights.shape(1) && n >= 1 && n <= symbolic::most_vertices && goal >= 0 && goal < n &&
              sources.size() == weights.shape(0) && weights.shape(0) >= 1 && bits >= 0 && bits < 20 && measure >= -1 &&
              measure < symbolic::measures;
  for (std::size_t i = 0; fits && i < sources.size(); ++i) fits = sources(i) >= 0 && sources(i) < n;
  if (!fits) return nb::make_tuple(bad_input);
  const symbolic::Problem problem = make_problem(weights, sources, goal, greedy, reopen);
  symbolic::Explorer explorer(problem);
  symbolic::Vectors vectors;
  Progress interrupt(stop, std::move(progress), explorer.report);
  {
    Unlocked unlocked;
    explorer.run(limit, &interrupt, [&](const symbolic::Node& node) {
      if (measure >= 0) {
        vectors.add(node, static_cast<symbolic::Measure>(measure), problem.n, bits);
        return;
      }
      vectors.values.insert(vectors.values.end(), node.results.begin(), node.results.end());
      vectors.rho.resize(vectors.rho.size() + static_cast<std::size_t>(n));
      symbolic::witness(node.bound, problem.n, bits, vectors.rho.data() + vectors.rho.size() - n);
    });
  }
  interrupt.raise_if_signalled();
  symbolic::Report& report = explorer.report;
  return nb::make_tuple(static_cast<int>(report.status), report.leaves, report.explored,
                        to_numpy(std::move(report.prefix)), to_numpy(std::move(vectors.values)),
                        to_numpy(std::move(vectors.rho)));
}

// One measure of every instance under every rho, instance by instance; empty where the arguments do not fit.
nb::object sweep(Matrices weights, Indices sources, std::int64_t goal, bool greedy, bool reopen, Values rho, int bits,
                 int measure) {
  const auto n = static_cast<std::int64_t>(weights.shape(1));
  bool fits = weights.shape(2) == weights.shape(1) && n >= 1 && n <= symbolic::most_vertices && goal >= 0 && goal < n &&
              sources.size() == weights.shape(0) && measure >= 0 && measure < symbolic::measures &&
              static_cast<std::int64_t>(rho.shape(1)) == n && bits >= 0 && bits < 20;
  for (std::size_t i = 0; fits && i < sources.size(); ++i)
    fits = sources(i) >= 0 && sources(i) < n && sources(i) != goal;
  std::vector<std::int64_t> values;
  if (!fits) return to_numpy(std::move(values));
  const symbolic::Problem problem = make_problem(weights, sources, goal, greedy, reopen);
  values.reserve(problem.instances.size() * rho.shape(0));
  {
    Unlocked unlocked;
    for (const symbolic::Instance& instance : problem.instances)
      for (std::size_t p = 0; p < rho.shape(0); ++p)
        values.push_back(symbolic::measure_run(instance, problem.n, problem.goal, greedy, reopen,
                                               rho.data() + p * static_cast<std::size_t>(n), bits,
                                               static_cast<symbolic::Measure>(measure)));
  }
  return to_numpy(std::move(values));
}

// (status, cuts): status 0 found, 1 there are none, 3 stopped.
nb::tuple shatter(Ranks ranks, Stop* stop) {
  PythonInterrupt interrupt(stop);
  Shatter search(ranks.data(), static_cast<std::int64_t>(ranks.shape(0)), static_cast<std::int32_t>(ranks.shape(1)),
                 &interrupt);
  bool found = false;
  {
    Unlocked unlocked;
    found = search.find();
  }
  interrupt.raise_if_signalled();
  return nb::make_tuple(found ? 0 : search.stopped ? 3 : 1, to_numpy(std::move(search.cuts)));
}

}  // namespace

void bind_symbolic(nb::module_& module) {
  module.def("explore", &explore, nb::arg("weights").noconvert(), nb::arg("sources").noconvert(), nb::arg("goal"),
             nb::arg("greedy"), nb::arg("reopen"), nb::arg("limit"), nb::arg("measure"), nb::arg("bits"),
             nb::arg("progress").none(), nb::arg("stop").none());
  module.def("sweep", &sweep, nb::arg("weights").noconvert(), nb::arg("sources").noconvert(), nb::arg("goal"),
             nb::arg("greedy"), nb::arg("reopen"), nb::arg("rho").noconvert(), nb::arg("bits"), nb::arg("measure"));
  module.def("shatter", &shatter, nb::arg("ranks").noconvert(), nb::arg("stop").none());
}

}  // namespace rhostar::bindings
