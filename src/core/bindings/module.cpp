#include "bindings/common.hpp"

NB_MODULE(_core, module) {
  using namespace rhostar::bindings;
  nb::class_<Stop>(module, "Stop")
      .def(nb::init<>())
      .def("set", [](Stop& stop) { stop.flag.store(true); })
      .def("is_set", [](const Stop& stop) { return stop.flag.load(); })
      // The flag of another process is another flag.
      .def("__reduce__", [](nb::object self) { return nb::make_tuple(self.type(), nb::make_tuple()); });
  GraphClass graph(module, "Graph");
  bind_status(module);
  bind_csr(module, graph);
  bind_best_first(module, graph);
  bind_potentials(module);
  bind_guide(module, graph);
  bind_reprice(module, graph);
  bind_hierarchy(module, graph);
  bind_query(module, graph);
  bind_links(module);
  bind_labels(graph);
  bind_flow(module);
  bind_optimal_path(module, graph);
  bind_survey(module);
  bind_text(module);
  bind_pieces(module, graph);
  bind_ranking(module, graph);
  module.def("wind_down", &Shutdown::begin);
  nb::module_::import_("atexit").attr("register")(module.attr("wind_down"));
  nb::set_leak_warnings(false);  // threads that end with the process may still hold a graph
}
