// Scans rows of a CSV table of edges: tail, head, weight and, if there is one, snapshot. Other columns are skipped.
//
// A field that begins with a quote ends with the next one that is not doubled, and may contain commas and line ends.
// Lines end with \n, \r\n or \r; blank ones are skipped. Names are numbered in the order in which they first occur.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/text.hpp"
#include "engine/status.hpp"

namespace rhostar {

struct TableForm {
  std::int32_t width = 0;             // how many columns the table has
  std::vector<std::int32_t> columns;  // those of tail, head, weight and, if there is one, snapshot
};

struct TableRows {
  std::vector<std::string> vertices, snapshots;
  std::vector<std::int32_t> tail, head, snapshot;  // numbers of names
  std::vector<double> weight;                      // NaN: missing
  std::vector<std::int32_t> line;                  // on which each row ends, counted from where the scan began
  // Why the scan stopped: `done` at the end, else at a row that is wrong. The offender is the field, or for a row with
  // another number of fields that number.
  Ending ending;
  std::size_t offset = 0;  // where the row begins at which the scan stopped
  std::size_t end = 0;     // and where it ends
  std::int32_t lines = 0;  // how many lines lie before it, or if it is wrong, end with it
};

namespace text {

constexpr double unbounded = std::numeric_limits<double>::infinity();

class Names {
 public:
  explicit Names(std::vector<std::string>& found) : found_(found) {}
  std::int32_t operator()(std::string_view name) {
    const auto [at, is_new] = number_.try_emplace(std::string(name), static_cast<std::int32_t>(found_.size()));
    if (is_new) found_.emplace_back(name);
    return at->second;
  }

 private:
  std::vector<std::string>& found_;
  std::unordered_map<std::string, std::int32_t> number_;
};

inline std::string_view trimmed(std::string_view field) {
  constexpr std::string_view blanks = " \t\r\n\v\f";
  const std::size_t first = field.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return field.substr(first, field.find_last_not_of(blanks) - first + 1);
}

inline bool parse_weight(std::string_view field, double& value) {
  const std::string_view word = trimmed(field);
  bool whole = true;
  if (parse_number(word.data(), word.data() + word.size(), value, whole)) return value < unbounded;
  std::string lower(word);
  for (char& c : lower)
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const std::string_view missing : {"", "nan", "na", "n/a", "null", "none", "<na>"})
    if (lower == missing) {
      value = std::numeric_limits<double>::quiet_NaN();
      return true;
    }
  const bool signed_ = lower.starts_with('+') || lower.starts_with('-');
  const std::string_view size = std::string_view(lower).substr(signed_ ? 1 : 0);
  if (size != "inf" && size != "infinity") return false;
  value = lower.starts_with('-') ? -unbounded : unbounded;
  return true;
}

}  // namespace text

// Read the rows of `data`; one that is not finished is left for the next call, unless `is_last`.
inline TableRows scan_table(std::string_view data, const TableForm& form, bool is_last) {
  using namespace text;
  TableRows out;
  Names vertex(out.vertices), snapshot(out.snapshots);
  std::vector<std::string_view> field(form.columns.size());
  std::vector<std::string> unquoted(form.columns.size());
  std::vector<std::int32_t> place(static_cast<std::size_t>(form.width), -1);
  for (std::size_t k = 0; k < form.columns.size(); ++k)
    place[static_cast<std::size_t>(form.columns[k])] = static_cast<std::int32_t>(k);
  const std::size_t size = data.size();
  std::size_t at = 0;
  while (at < size) {
    std::int32_t lines = 0, width = 0;
    Status status = Status::done;
    bool finished = false;
    while (!finished) {
      const std::int32_t k = width < form.width ? place[static_cast<std::size_t>(width)] : -1;
      const std::size_t begin = at;
      if (at < size && data[at] == '"') {
        std::string value;
        for (++at; at < size; ++at) {
          if (data[at] == '"') {
            if (at + 1 < size && data[at + 1] == '"') ++at;
            else break;
          }
          if (data[at] == '\n' || (data[at] == '\r' && !(at + 1 < size && data[at + 1] == '\n'))) ++lines;
          value.push_back(data[at]);
        }
        if (at == size) {
          if (is_last) status = Status::limit;
          break;
        }
        ++at;
        if (k >= 0) {
          unquoted[static_cast<std::size_t>(k)] = std::move(value);
          field[static_cast<std::size_t>(k)] = unquoted[static_cast<std::size_t>(k)];
        }
        if (at < size && data[at] != ',' && data[at] != '\n' && data[at] != '\r') {
          status = Status::extra_field;
          while (at < size && data[at] != '\n' && data[at] != '\r') ++at;
        }
      } else {
        while (at < size && data[at] != ',' && data[at] != '\n' && data[at] != '\r') ++at;
        if (k >= 0) field[static_cast<std::size_t>(k)] = data.substr(begin, at - begin);
      }
      ++width;
      if (at == size) break;
      finished = data[at] != ',';
      if (finished && data[at] == '\r') {
        if (at + 1 == size && !is_last) {  // perhaps the first half of \r\n
          finished = false;
          break;
        }
        if (at + 1 < size && data[at + 1] == '\n') ++at;
      }
      ++at;
    }
    if (!finished && status == Status::done) return out;
    out.end = at;
    if (status != Status::limit) ++lines;
    const bool blank = width == 1 && (data[out.offset] == '\n' || data[out.offset] == '\r');
    if (!blank) {
      for (std::size_t k = 0; k < field.size(); ++k)  // a column may be asked for twice
        field[k] = field[static_cast<std::size_t>(place[static_cast<std::size_t>(form.columns[k])])];
      double weight = 0;
      std::int64_t offender = -1;
      if (status == Status::done && width != form.width) {
        status = Status::other_line;
        offender = width;
      }
      for (std::size_t k = 0; k < field.size() && status == Status::done; ++k) {
        offender = static_cast<std::int64_t>(k);
        if (k == 2) {
          if (!parse_weight(field[k], weight)) status = Status::bad_number;
          else if (weight < 0) status = Status::bad_weight;
        } else if (k == 3 ? field[k].empty() : trimmed(field[k]).empty()) {
          status = Status::missing_field;
        }
      }
      if (status != Status::done) {
        out.ending = {.status = status, .offender = offender};
        out.lines += lines;
        return out;
      }
      out.tail.push_back(vertex(field[0]));
      out.head.push_back(vertex(field[1]));
      out.weight.push_back(weight);
      if (field.size() > 3) out.snapshot.push_back(snapshot(field[3]));
      out.line.push_back(out.lines + lines - 1);
    }
    out.lines += lines;
    out.offset = at;
  }
  return out;
}

}  // namespace rhostar
