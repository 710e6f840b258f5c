#include "text.hpp"

#include "common.hpp"

#include <nanobind/stl/string.h>

namespace rhostar::bindings {

namespace {

// (halt, offset, lines, field, whole, line of each record, columns in the order of `kinds`)
nb::tuple scan(nb::bytes data, std::size_t begin, const std::string& letter, const std::string& comments,
               const std::string& kinds) {
  const std::string_view text(data.c_str(), data.size());
  RecordForm form{letter.empty() ? '\0' : letter[0], comments, kinds};
  Records out;
  {
    Unlocked unlocked;
    out = scan_records(text, begin, form);
  }
  nb::list columns;
  std::size_t i = 0, f = 0;
  for (const char kind : kinds) {
    if (kind == 'i') columns.append(to_numpy(std::move(out.integers[i++])));
    else columns.append(to_numpy(std::move(out.numbers[f++])));
  }
  return nb::make_tuple(static_cast<int>(out.halt), out.offset, out.lines, out.field, out.whole,
                        to_numpy(std::move(out.line)), columns);
}

}  // namespace

void bind_text(nb::module_& module) {
  module.def("scan_records", &scan, nb::arg("data"), nb::arg("begin"), nb::arg("letter"), nb::arg("comments"),
             nb::arg("kinds"));
}

}  // namespace rhostar::bindings
