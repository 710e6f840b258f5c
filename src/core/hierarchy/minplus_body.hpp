// The product of minplus.hpp for vectors of the type `Vector`. It is included once for each kind of processor.
//
// No include guard, and nothing but this: all of it is compiled for that processor.

template <class V>
[[gnu::always_inline]] inline V load(const Pair* from) {
  typedef V Loose __attribute__((aligned(16), may_alias));
  return *reinterpret_cast<const Loose*>(from);
}
template <class V>
[[gnu::always_inline]] inline void store(Pair* to, V value) {
  typedef V Loose __attribute__((aligned(16), may_alias));
  *reinterpret_cast<Loose*>(to) = value;
}
template <class V>
[[gnu::always_inline]] inline V repeated(Pair pair) {
  V out;
  for (std::size_t k = 0; k < sizeof(V) / sizeof(double); ++k) out[k] = pair[k % 2];
  return out;
}

template <class V, int rows, int width>
[[gnu::always_inline]] inline void block(const Pair* const* column, const Pair* factor, std::int32_t count,
                                         std::int32_t at, Pair* const* best) {
  constexpr int step = sizeof(V) / sizeof(Pair);
  V out[rows][width];
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < width; ++k) out[r][k] = load<V>(best[r] + at + step * k);
  for (std::int32_t c = 0; c < count; ++c) {
    const Pair* const from = column[c] + at;
    V mine[rows];
    for (int r = 0; r < rows; ++r) mine[r] = repeated<V>(factor[rows * c + r]);
    for (int k = 0; k < width; ++k) {
      const V its = load<V>(from + step * k);
      for (int r = 0; r < rows; ++r) {
        const V sum = mine[r] + its;
        out[r][k] = sum < out[r][k] ? sum : out[r][k];
      }
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < width; ++k) store(best[r] + at + step * k, out[r][k]);
}

// From `at` to `to`. Blocks may overlap, back to `first`: a minimum that is taken twice stays the same.
template <class V, int rows, int width>
[[gnu::always_inline]] inline void range(const Pair* const* column, const Pair* factor, std::int32_t count,
                                         std::int32_t first, std::int32_t at, std::int32_t to, Pair* const* best) {
  constexpr int step = width * sizeof(V) / sizeof(Pair);
  for (; at + step <= to; at += step) block<V, rows, width>(column, factor, count, at, best);
  if (at == to) return;
  if constexpr (width > 1) {
    if (to - first < step || to - at <= step / 2)
      return range<V, rows, width / 2>(column, factor, count, first, at, to, best);
  } else if constexpr (sizeof(V) > sizeof(Pair)) {
    if (to - first < step) return range<Pair, rows, step / 2>(column, factor, count, first, at, to, best);
  }
  block<V, rows, width>(column, factor, count, to - step, best);
}

inline void one(const Pair* const* column, const Pair* factor, std::int32_t count, std::int32_t from, std::int32_t to,
                Pair* const* best) {
  range<Vector, 1, 8>(column, factor, count, from, from, to, best);
}
inline void two(const Pair* const* column, const Pair* factor, std::int32_t count, std::int32_t from, std::int32_t to,
                Pair* const* best) {
  range<Vector, 2, 4>(column, factor, count, from, from, to, best);
}

inline void spread(const Pair* one, const Pair* two, const Pair* row_one, const Pair* row_two, int lane,
                   const std::int32_t* place, std::int32_t count, Pair* known) {
  constexpr int width = pairs_together * sizeof(Pair) / sizeof(Vector), step = sizeof(Vector) / sizeof(Pair);
  Vector a[width], b[width];
  for (int k = 0; k < width; ++k) {
    a[k] = load<Vector>(one + step * k);
    b[k] = load<Vector>(two + step * k);
  }
  for (std::int32_t i = 0; i < count; ++i) {
    const Vector x = repeated<Vector>(Pair{row_one[i][lane], row_one[i][lane]});
    const Vector y = repeated<Vector>(Pair{row_two[i][lane], row_two[i][lane]});
    Pair* const there = known + pairs_together * std::ptrdiff_t{place[i]};
    for (int k = 0; k < width; ++k) {
      const Vector first = a[k] + x, second = b[k] + y, known_so_far = load<Vector>(there + step * k);
      const Vector better = first < known_so_far ? first : known_so_far;
      store(there + step * k, second < better ? second : better);
    }
  }
}
