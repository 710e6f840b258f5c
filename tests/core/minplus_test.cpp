// Products of sums and minima against a plain loop: all ranges, one and two rows, every kind of vector that this
// processor has. Prints what failed and returns 1, or returns 0; tests/core/test_minplus.py builds and runs it.
#include "hierarchy/minplus.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace {

using rhostar::least;
using rhostar::no_way;
using rhostar::Pair;
using rhostar::minplus::Products;

std::mt19937 random_number(1);

std::vector<Pair> draw(std::size_t size) {
  const auto one = [] { return random_number() % 5 == 0 ? no_way : static_cast<double>(random_number() % 1000) / 7.0; };
  std::vector<Pair> out(size);
  for (Pair& pair : out) pair = Pair{one(), one()};
  return out;
}

bool agrees(const Products& products, int rows, std::int32_t count, std::int32_t from, std::int32_t to) {
  constexpr std::int32_t size = 80;
  std::vector<std::vector<Pair>> columns;
  std::vector<const Pair*> column;
  for (std::int32_t c = 0; c < count; ++c) columns.push_back(draw(size));
  for (const auto& each : columns) column.push_back(each.data());
  const std::vector<Pair> factor = draw(static_cast<std::size_t>(rows * count));
  std::vector<Pair> found[2] = {draw(size), draw(size)};
  std::vector<Pair> expected[2] = {found[0], found[1]};
  for (int r = 0; r < rows; ++r)
    for (std::int32_t c = 0; c < count; ++c)
      for (std::int32_t j = from; j < to; ++j)
        expected[r][j] = least(expected[r][j], factor[rows * c + r] + columns[c][j]);
  Pair* const best[2] = {found[0].data(), found[1].data()};
  (rows == 1 ? products.one : products.two)(column.data(), factor.data(), count, from, to, best);
  return std::memcmp(found[0].data(), expected[0].data(), size * sizeof(Pair)) == 0 &&
         std::memcmp(found[1].data(), expected[1].data(), size * sizeof(Pair)) == 0;
}

bool spreads(const Products& products, int lane, std::int32_t count) {
  constexpr std::int32_t together = rhostar::minplus::pairs_together, places = 50;
  const std::vector<Pair> one = draw(together), two = draw(together), row_one = draw(count), row_two = draw(count);
  std::vector<Pair> found = draw(places * together), expected = found;
  std::vector<std::int32_t> place(places);
  std::iota(place.begin(), place.end(), 0);
  std::shuffle(place.begin(), place.end(), random_number);
  for (std::int32_t i = 0; i < count; ++i)
    for (std::int32_t k = 0; k < together; ++k) {
      Pair& there = expected[place[i] * together + k];
      there = least(there, one[k] + Pair{row_one[i][lane], row_one[i][lane]});
      there = least(there, two[k] + Pair{row_two[i][lane], row_two[i][lane]});
    }
  products.spread(one.data(), two.data(), row_one.data(), row_two.data(), lane, place.data(), count, found.data());
  return std::memcmp(found.data(), expected.data(), found.size() * sizeof(Pair)) == 0;
}

}  // namespace

int main() {
  namespace minplus = rhostar::minplus;
  const std::vector<Products> all{{minplus::narrow::one, minplus::narrow::two, minplus::narrow::spread},
                                  minplus::choose()};
  for (std::size_t kind = 0; kind < all.size(); ++kind)
    for (const int lane : {0, 1})
      for (std::int32_t count = 0; count <= 50; ++count)
        if (!spreads(all[kind], lane, count)) {
          std::printf("kind %zu, lane %d, count %d\n", kind, lane, count);
          return 1;
        }
  for (std::size_t kind = 0; kind < all.size(); ++kind)
    for (const int rows : {1, 2})
      for (const std::int32_t count : {1, 2, 7, 64})
        for (const std::int32_t from : {0, 1, 5})
          for (std::int32_t to = from; to <= 80; ++to)
            if (!agrees(all[kind], rows, count, from, to)) {
              std::printf("kind %zu, rows %d, count %d, from %d, to %d\n", kind, rows, count, from, to);
              return 1;
            }
  return 0;
}
