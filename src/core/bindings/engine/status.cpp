#include "engine/status.hpp"

#include "bindings/common.hpp"

namespace rhostar::bindings {

void bind_status(nb::module_& module) {
  nb::enum_<Status> statuses(module, "Status");
  for (const StatusText& text : status_texts) statuses.value(text.name, text.status);
  statuses.def_prop_ro("message", [](Status status) { return message(status); });

  nb::enum_<Event>(module, "Event", nb::is_arithmetic())
      .value("SELECT", Event::select)
      .value("OPEN", Event::open)
      .value("IMPROVE", Event::improve)
      .value("REOPEN", Event::reopen)
      .value("CLOSE", Event::close)
      .value("GOAL", Event::goal);

  nb::class_<Ending>(module, "Ending")
      .def_ro("status", &Ending::status)
      .def_ro("at", &Ending::at)
      .def_ro("offender", &Ending::offender);
}

}  // namespace rhostar::bindings
