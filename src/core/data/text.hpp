// Parses lines of numbers such as `a 1 2 803` or `17 0.5 -3e2` in one pass. Knows nothing about files or formats.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "engine/status.hpp"

namespace rhostar {

// What the lines look like: an optional letter in front, then one number for each kind.
struct RecordForm {
  char letter = '\0';         // '\0': none
  std::string_view comments;  // a line that begins with one of these is skipped
  std::string_view kinds;     // 'i' for an integer, 'f' for any number
};

struct Records {
  std::vector<std::vector<std::int64_t>> integers;  // one for each 'i', in order
  std::vector<std::vector<double>> numbers;         // one for each 'f', in order
  std::vector<std::int32_t> line;                   // of each record, counted from where the scan began
  bool whole = true;                                // every 'f' so far was written as an integer below 2^53
  // Why the scan stopped: `done` at the end, else at a line of another form or one that is wrong; the offender is the
  // field that is wrong, from 0.
  Ending ending;
  std::size_t offset = 0;  // where the line begins at which the scan stopped
  std::int32_t lines = 0;  // how many lines lie before it
};

namespace text {

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
inline bool is_digit(char c) { return '0' <= c && c <= '9'; }

inline bool parse_integer(const char* at, const char* end, std::int64_t& value) {
  const bool negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) ++at;
  if (at == end || end - at > 18) return false;  // 18 digits always fit
  std::int64_t sum = 0;
  for (; at < end; ++at) {
    if (!is_digit(*at)) return false;
    sum = sum * 10 + (*at - '0');
  }
  value = negative ? -sum : sum;
  return true;
}

// A number whose form is known to be right; the C library's way depends on the locale, so it is the second choice.
inline double parse_long_number(const char* begin, const char* end) {
#if defined(__cpp_lib_to_chars)
  double value = 0;
  const auto result = std::from_chars(begin + (*begin == '+'), end, value);
  if (result.ec == std::errc{}) return value;
#endif
  const std::string token(begin, end);  // also says inf or 0 where a number is out of range
  return std::strtod(token.c_str(), nullptr);
}

// Correctly rounded: a mantissa below 2^53 and a power of ten up to 22 are exact doubles, and one operation on
// exact doubles rounds once. Anything longer goes to the library. An integer of 2^53 or more is refused: sums of
// integers are to be exact, and it would be rounded without a word.
inline bool parse_number(const char* begin, const char* end, double& value, bool& whole) {
  static constexpr double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  constexpr std::uint64_t exact = std::uint64_t{1} << 53;
  const char* at = begin;
  const bool negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) ++at;
  std::uint64_t mantissa = 0;
  int digits = 0, exponent = 0;
  bool fits = true, is_whole = true;
  const auto take = [&](char c) {
    ++digits;
    if (mantissa >= exact / 10) fits = false;
    else mantissa = mantissa * 10 + static_cast<std::uint64_t>(c - '0');
  };
  for (; at < end && is_digit(*at); ++at) take(*at);
  if (at < end && *at == '.') {
    is_whole = false;
    for (++at; at < end && is_digit(*at); ++at, --exponent) take(*at);
  }
  if (digits == 0) return false;
  if (at < end && (*at == 'e' || *at == 'E')) {
    is_whole = false;
    std::int64_t given = 0;
    if (!parse_integer(at + 1, end, given)) return false;
    if (given > 100000 || given < -100000) fits = false;
    else exponent += static_cast<int>(given);
    at = end;
  }
  if (at != end) return false;
  if (!fits || exponent > 22 || exponent < -22) {
    value = parse_long_number(begin, end);
    whole = false;
    return !is_whole || std::abs(value) < 0x1p53;
  }
  const double size = static_cast<double>(mantissa);
  value = exponent < 0 ? size / power[-exponent] : size * power[exponent];
  if (negative) value = -value;
  whole = whole && is_whole;
  return true;
}

}  // namespace text

// Read the lines of `data` from `begin` on; an unfinished last line is left for the next call.
inline Records scan_records(std::string_view data, std::size_t begin, const RecordForm& form) {
  using namespace text;
  Records out;
  for (const char kind : form.kinds) {
    if (kind == 'i') out.integers.emplace_back();
    else out.numbers.emplace_back();
  }
  std::vector<std::int64_t> integers(out.integers.size());
  std::vector<double> numbers(out.numbers.size());
  out.offset = begin;
  while (out.offset < data.size()) {
    const char* at = data.data() + out.offset;
    const void* newline = std::memchr(at, '\n', data.size() - out.offset);
    if (newline == nullptr) return out;
    const char* end = static_cast<const char*>(newline);
    while (at < end && is_blank(*at)) ++at;
    const bool empty = at == end || form.comments.find(*at) != std::string_view::npos;
    if (!empty) {
      if (form.letter != '\0') {
        if (*at != form.letter || (at + 1 < end && !is_blank(at[1]))) {
          out.ending.status = Status::other_line;
          return out;
        }
        ++at;
      }
      std::size_t i = 0, f = 0;
      std::int32_t field = 0;
      for (const char kind : form.kinds) {
        while (at < end && is_blank(*at)) ++at;
        const char* token = at;
        while (at < end && !is_blank(*at)) ++at;
        const bool good =
            kind == 'i' ? parse_integer(token, at, integers[i++]) : parse_number(token, at, numbers[f++], out.whole);
        if (!good) {
          out.ending = {.status = token == at ? Status::missing_field : Status::bad_number, .offender = field};
          return out;
        }
        ++field;
      }
      while (at < end && is_blank(*at)) ++at;
      if (at != end) {
        out.ending = {.status = Status::extra_field, .offender = field};
        return out;
      }
      // All of the line or nothing of it.
      for (std::size_t k = 0; k < integers.size(); ++k) out.integers[k].push_back(integers[k]);
      for (std::size_t k = 0; k < numbers.size(); ++k) out.numbers[k].push_back(numbers[k]);
      out.line.push_back(out.lines);
    }
    ++out.lines;
    out.offset = static_cast<std::size_t>(end - data.data()) + 1;
  }
  return out;
}

}  // namespace rhostar
