#include "theory/symbolic.hpp"

#include "bindings/common.hpp"
#include "theory/shatter.hpp"

namespace rhostar::bindings {

namespace {

using Matrices = nb::ndarray<const std::int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Ranks = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Interrupts as elsewhere, and a Python function that is called from time to time with the share of the tree explored.
class Progress final : public Interrupt {
 public:
  Progress(nb::object call, const symbolic::Report& report) : call_(std::move(call)), report_(report) {}

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
  PythonInterrupt interrupt_{nullptr};
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

// Whether matrices, sources and the rest describe instances on the same few vertices.
bool are_instances(const Matrices& weights, const Indices& sources, std::int64_t goal, int bits) {
  const auto n = static_cast<std::int64_t>(weights.shape(1));
  bool good = weights.shape(2) == weights.shape(1) && n >= 1 && n <= symbolic::most_vertices && goal >= 0 && goal < n &&
              sources.size() == weights.shape(0) && bits >= 0 && bits < 20;
  for (std::size_t i = 0; good && i < sources.size(); ++i) good = sources(i) >= 0 && sources(i) < n;
  return good;
}

// The joint behaviours of some instances.
struct Exploration {
  Ending ending;
  std::int64_t leaves = 0;
  double explored = 0.0;             // the share of the tree
  std::vector<std::int64_t> prefix;  // joint behaviours of the first 1, 2, ... instances
  std::vector<std::int64_t> values;  // of all measures at each leaf, or the distinct vectors of one measure
  std::vector<std::int64_t> rho;     // one for each of these, in units of 2^-bits
};

// `measure` is -1 for all of them.
Exploration explore(Matrices weights, Indices sources, std::int64_t goal, bool greedy, bool reopen, std::int64_t limit,
                    int measure, int bits, nb::object progress) {
  if (!are_instances(weights, sources, goal, bits) || weights.shape(0) < 1 || measure < -1 ||
      measure >= symbolic::measures)
    return bad_input<Exploration>();
  const symbolic::Problem problem = make_problem(weights, sources, goal, greedy, reopen);
  symbolic::Explorer explorer(problem);
  symbolic::Vectors vectors;
  Progress interrupt(std::move(progress), explorer.report);
  {
    Unlocked unlocked;
    explorer.run(limit, &interrupt, [&](const symbolic::Node& node) {
      if (measure >= 0) {
        vectors.add(node, static_cast<symbolic::Measure>(measure), problem.n, bits);
        return;
      }
      const auto n = static_cast<std::size_t>(problem.n);
      vectors.values.insert(vectors.values.end(), node.results.begin(), node.results.end());
      vectors.rho.resize(vectors.rho.size() + n);
      symbolic::witness(node.bound, problem.n, bits, vectors.rho.data() + vectors.rho.size() - n);
    });
  }
  interrupt.raise_if_signalled();
  symbolic::Report& report = explorer.report;
  return {report.ending,         report.leaves, report.explored, std::move(report.prefix), std::move(vectors.values),
          std::move(vectors.rho)};
}

struct Sweep {
  Ending ending;
  std::vector<std::int64_t> values;  // of every instance under every rho, instance by instance
};

// One measure. No instance may start at the goal.
Sweep sweep(Matrices weights, Indices sources, std::int64_t goal, bool greedy, bool reopen, Values rho, int bits,
            int measure) {
  const auto n = static_cast<std::size_t>(weights.shape(1));
  bool fits =
      are_instances(weights, sources, goal, bits) && measure >= 0 && measure < symbolic::measures && rho.shape(1) == n;
  for (std::size_t i = 0; fits && i < sources.size(); ++i) fits = sources(i) != goal;
  if (!fits) return bad_input<Sweep>();
  Sweep all;
  const symbolic::Problem problem = make_problem(weights, sources, goal, greedy, reopen);
  all.values.reserve(problem.instances.size() * rho.shape(0));
  {
    Unlocked unlocked;
    for (const symbolic::Instance& instance : problem.instances)
      for (std::size_t p = 0; p < rho.shape(0); ++p)
        all.values.push_back(symbolic::measure_run(problem, instance, rho.data() + p * n, bits,
                                                   static_cast<symbolic::Measure>(measure)));
  }
  return all;
}

Thresholds shatter(Ranks ranks) {
  PythonInterrupt interrupt(nullptr);
  Shatter search(ranks.data(), static_cast<std::int64_t>(ranks.shape(0)), static_cast<std::int32_t>(ranks.shape(1)),
                 &interrupt);
  Thresholds all;
  {
    Unlocked unlocked;
    all = search.find();
  }
  interrupt.raise_if_signalled();
  return all;
}

}  // namespace

}  // namespace rhostar::bindings

NB_MODULE(_core, module) {
  using namespace rhostar;
  using namespace rhostar::bindings;
  nb::module_::import_("rhostar._core");  // has the class of `ending`
  auto explored = bind_result<Exploration>(module, "Exploration");
  explored.def_ro("leaves", &Exploration::leaves).def_ro("explored", &Exploration::explored);
  explored.def_prop_ro("complete", [](const Exploration& all) { return all.ending.status != Status::limit; });
  bind_array<&Exploration::prefix>(explored, "prefix");
  bind_array<&Exploration::values>(explored, "values");
  bind_array<&Exploration::rho>(explored, "rho");
  auto swept = bind_result<Sweep>(module, "Sweep");
  bind_array<&Sweep::values>(swept, "values");
  auto thresholds = bind_result<Thresholds>(module, "Thresholds");
  thresholds.def_ro("found", &Thresholds::found);
  bind_array<&Thresholds::cuts>(thresholds, "cuts");
  module.def("explore", &explore, nb::arg("weights").noconvert(), nb::arg("sources").noconvert(), nb::arg("goal"),
             nb::arg("greedy"), nb::arg("reopen"), nb::arg("limit"), nb::arg("measure"), nb::arg("bits"),
             nb::arg("progress").none());
  module.def("sweep", &sweep, nb::arg("weights").noconvert(), nb::arg("sources").noconvert(), nb::arg("goal"),
             nb::arg("greedy"), nb::arg("reopen"), nb::arg("rho").noconvert(), nb::arg("bits"), nb::arg("measure"));
  module.def("shatter", &shatter, nb::arg("ranks").noconvert());
  module.def("wind_down", &Shutdown::begin);
  nb::module_::import_("atexit").attr("register")(module.attr("wind_down"));
}
