#include "potentials.hpp"

#include <nanobind/stl/string_view.h>

#include <string_view>

#include "bindings/common.hpp"

namespace rhostar::bindings {

namespace {

nb::object metric_potential(std::string_view name, const Coordinates& at, double scale) {
  const Metric metric = name == "octile" ? Metric::octile : name == "haversine" ? Metric::haversine : Metric::euclidean;
  return nb::cast(
      sharing(std::make_unique<MetricPotential>(static_cast<std::int32_t>(at.shape(0)), metric, at.data(), scale), at));
}

// `to` and `away` have a row for each vertex and a column for each landmark.
nb::object landmark_potential(const Tables& to, const Tables& away, double beyond, double scale) {
  if (to.shape(0) != away.shape(0) || to.shape(1) != away.shape(1))
    throw nb::value_error("to and away differ in shape");
  return nb::cast(sharing(std::make_unique<LandmarkPotential>(static_cast<std::int32_t>(to.shape(0)),
                                                              static_cast<std::int32_t>(to.shape(1)), to.data(),
                                                              away.data(), beyond, scale),
                          to, away));
}

// The larger of `factor` times another potential and the other less `loss`.
nb::object lowered_potential(nb::object of, double factor, double loss) {
  const Potential& potential = nb::cast<const SharedPotential&>(of).get();
  return nb::cast(sharing(std::make_unique<LoweredPotential>(potential, factor, loss), of));
}

struct PotentialValues {
  Ending ending;
  std::vector<double> rho;
};

// The value of every vertex, for one goal or for the nearest of several. Weights, if any, are for guides that look at
// them, one for each edge.
PotentialValues values(const SharedPotential& shared, Indices goals, const Row& weights, Stop* stop) {
  const Potential& potential = shared.get();
  bool fits = goals.size() > 0;
  for (std::size_t i = 0; fits && i < goals.size(); ++i) fits = 0 <= goals(i) && goals(i) < potential.n;
  Today today;
  if (weights.is_valid()) fits = with_weights(weights, [&](const auto* data) { today = Today(data); }) && fits;
  if (!fits) return bad_input<PotentialValues>();
  PotentialValues all;
  PythonInterrupt interrupt(stop);
  {
    Unlocked unlocked;
    Guided guide(potential);
    (*guide).aim(goals.data(), static_cast<std::int32_t>(goals.size()), today);
    all.rho.reserve(static_cast<std::size_t>(potential.n));
    for (std::int32_t v = 0; v < potential.n; ++v) {
      if ((v & 0xFFF) == 0 && interrupt.requested()) {
        all.ending = {.status = Status::stopped, .offender = v};
        break;
      }
      all.rho.push_back((*guide)(v));
    }
  }
  interrupt.raise_if_signalled();
  return all;
}

}  // namespace

void bind_potentials(nb::module_& module) {
  auto all = bind_result<PotentialValues>(module, "PotentialValues");
  bind_array<&PotentialValues::rho>(all, "rho");
  nb::class_<SharedPotential>(module, "Potential")
      .def_prop_ro("n", [](const SharedPotential& self) { return self.get().n; })
      .def_prop_ro("evaluated", [](const SharedPotential& self) { return self.get().evaluated(); })
      .def("values", &values, nb::arg("goals").noconvert(), nb::arg("weights").noconvert().none(),
           nb::arg("stop").none());
  module.def("lowered_potential", &lowered_potential, nb::arg("of"), nb::arg("factor"), nb::arg("loss"));
  module.def("metric_potential", &metric_potential, nb::arg("metric"), nb::arg("coordinates").noconvert(),
             nb::arg("scale"));
  module.def("landmark_potential", &landmark_potential, nb::arg("to").noconvert(), nb::arg("away").noconvert(),
             nb::arg("beyond"), nb::arg("scale"));
}

}  // namespace rhostar::bindings
