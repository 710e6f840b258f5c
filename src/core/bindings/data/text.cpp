#include "data/text.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/common.hpp"
#include "data/table.hpp"

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

TableRows scan_rows(nb::bytes data, std::int32_t width, const std::vector<std::int32_t>& columns, bool is_last) {
  const std::string_view text(data.c_str(), data.size());
  Unlocked unlocked;
  return scan_table(text, {width, columns}, is_last);
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
  auto rows = bind_result<TableRows>(module, "TableRows");
  rows.def_ro("vertices", &TableRows::vertices)
      .def_ro("snapshots", &TableRows::snapshots)
      .def_ro("offset", &TableRows::offset)
      .def_ro("end", &TableRows::end)
      .def_ro("lines", &TableRows::lines);
  bind_array<&TableRows::tail>(rows, "tail");
  bind_array<&TableRows::head>(rows, "head");
  bind_array<&TableRows::snapshot>(rows, "snapshot");
  bind_array<&TableRows::weight>(rows, "weight");
  bind_array<&TableRows::line>(rows, "line");
  module.def("scan_table", &scan_rows, nb::arg("data"), nb::arg("width"), nb::arg("columns"), nb::arg("is_last"));
}

}  // namespace rhostar::bindings
