#include "text.hpp"

#include <nanobind/stl/string.h>

#include "common.hpp"

namespace rhostar::bindings {

namespace {

// Records with their columns in the order of the fields.
struct Scan : Records {
  nb::list columns;
};

Scan scan(nb::bytes data, std::size_t begin, const std::string& letter, const std::string& comments,
          const std::string& kinds) {
  const std::string_view text(data.c_str(), data.size());
  RecordForm form{letter.empty() ? '\0' : letter[0], comments, kinds};
  Scan out;
  {
    Unlocked unlocked;
    static_cast<Records&>(out) = scan_records(text, begin, form);
  }
  std::size_t i = 0, f = 0;
  for (const char kind : kinds) {
    if (kind == 'i') out.columns.append(to_numpy(std::move(out.integers[i++])));
    else out.columns.append(to_numpy(std::move(out.numbers[f++])));
  }
  return out;
}

}  // namespace

void bind_text(nb::module_& module) {
  auto scanned = bind_result<Scan>(module, "Scan");
  scanned.def_ro("offset", &Scan::offset)
      .def_ro("lines", &Scan::lines)
      .def_ro("whole", &Scan::whole)
      .def_ro("columns", &Scan::columns);
  bind_array<&Scan::line>(scanned, "line");
  module.def("scan_records", &scan, nb::arg("data"), nb::arg("begin"), nb::arg("letter"), nb::arg("comments"),
             nb::arg("kinds"));
}

}  // namespace rhostar::bindings
