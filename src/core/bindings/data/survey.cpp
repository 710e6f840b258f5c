#include "data/survey.hpp"

#include "bindings/common.hpp"
#include "data/content.hpp"

namespace rhostar::bindings {

namespace {

SurveyOutcome survey_rows(Snapshots weights, Positions rows, Table low, Table high, bool integers, bool absent_allowed,
                          Stop* stop) {
  const auto m = weights.shape(1);
  bool fits = (weights.stride(1) == 1 || m <= 1) && (low.size() == 1 || low.size() == m) &&
              (high.size() == 1 || high.size() == m);
  for (std::size_t i = 0; fits && i < rows.size(); ++i)
    fits = rows(i) >= 0 && rows(i) < static_cast<std::int64_t>(weights.shape(0));
  if (!fits) return bad_input<SurveyOutcome>();
  const Demands demands{.low = low.data(),
                        .high = high.data(),
                        .low_stride = low.size() == 1 ? 0 : 1,
                        .high_stride = high.size() == 1 ? 0 : 1,
                        .integers = integers,
                        .absent_allowed = absent_allowed};
  SurveyOutcome all;
  PythonInterrupt interrupt(stop);
  const bool known = with_weights(weights, [&](const auto* data) {
    Unlocked unlocked;
    all = rhostar::survey_rows(data, weights.stride(0), static_cast<std::int64_t>(m), rows.data(),
                               static_cast<std::int64_t>(rows.size()), demands, interrupt);
  });
  interrupt.raise_if_signalled();
  return known ? std::move(all) : bad_input<SurveyOutcome>();
}

ContentOutcome content_rows(Snapshots weights, Positions rows, Table direction, Stop* stop) {
  const auto m = weights.shape(1);
  bool fits = (weights.stride(1) == 1 || m <= 1) && direction.size() == m;
  for (std::size_t i = 0; fits && i < rows.size(); ++i)
    fits = rows(i) >= 0 && rows(i) < static_cast<std::int64_t>(weights.shape(0));
  if (!fits) return bad_input<ContentOutcome>();
  ContentOutcome all;
  PythonInterrupt interrupt(stop);
  const bool known = with_weights(weights, [&](const auto* data) {
    Unlocked unlocked;
    all = rhostar::content_rows(data, weights.stride(0), static_cast<std::int64_t>(m), rows.data(),
                                static_cast<std::int64_t>(rows.size()), direction.data(), interrupt);
  });
  interrupt.raise_if_signalled();
  return known ? std::move(all) : bad_input<ContentOutcome>();
}

}  // namespace

void bind_survey(nb::module_& module) {
  auto surveyed = bind_result<SurveyOutcome>(module, "SurveyOutcome");
  bind_array<&SurveyOutcome::digest>(surveyed, "digest");
  module.def("survey_rows", &survey_rows, nb::arg("weights").noconvert(), nb::arg("rows").noconvert(),
             nb::arg("low").noconvert(), nb::arg("high").noconvert(), nb::arg("integers"), nb::arg("absent_allowed"),
             nb::arg("stop").none());
  auto content = bind_result<ContentOutcome>(module, "ContentOutcome");
  bind_array<&ContentOutcome::sketches>(content, "sketches");
  bind_array<&ContentOutcome::absent>(content, "absent");
  module.def("content_rows", &content_rows, nb::arg("weights").noconvert(), nb::arg("rows").noconvert(),
             nb::arg("direction").noconvert(), nb::arg("stop").none());
}

}  // namespace rhostar::bindings
