// Heuristics for every goal, computed where a search needs them instead of read from a table.
//
// A Potential is shared and constant. A Guide is the part of it that one search at a time uses: it is aimed at a goal,
// or at several, and then gives the value of any vertex. A new goal needs no pass over all vertices, and the same goal
// again needs no work: values are remembered until the goal changes.
//
// Here are distances by coordinates and bounds by landmarks; hierarchy/guide.hpp has distances under learned weights.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <vector>

namespace rhostar {

// Memory that is zero at first; pages that nobody touches cost nothing.
template <class T>
class Zeroed {
 public:
  explicit Zeroed(std::size_t size) : data_(static_cast<T*>(std::calloc(size ? size : 1, sizeof(T)))) {
    if (!data_) throw std::bad_alloc();
  }
  T& operator[](std::int64_t i) { return data_.get()[i]; }
  const T& operator[](std::int64_t i) const { return data_.get()[i]; }
  T* data() { return data_.get(); }

 private:
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  std::unique_ptr<T, Free> data_;
};

// The weights of a query by edge, for guides that look at some of them; or nothing.
struct Today {
  const void* weights = nullptr;
  double (*read)(const void* weights, std::int64_t edge) = nullptr;

  Today() = default;
  template <class W>
  explicit Today(const W* of_query)
      : weights(of_query),
        read([](const void* all, std::int64_t edge) { return static_cast<double>(static_cast<const W*>(all)[edge]); }) {
  }
  explicit operator bool() const { return weights != nullptr; }
  double operator()(std::int64_t edge) const { return read(weights, edge); }
};

class Guide {
 public:
  // `place` says where the value of each vertex is kept, null if at its own number. Values are scaled when they are
  // read, and none is larger than `most` before that.
  Guide(std::int32_t n, double scale, double most = std::numeric_limits<double>::infinity(),
        const std::int32_t* place = nullptr)
      : known_(static_cast<std::size_t>(n)), scale_(scale), place_(place), most_(most) {}
  Guide(const Guide&) = delete;
  Guide& operator=(const Guide&) = delete;
  virtual ~Guide() = default;

  //! Turns to a goal, or to the nearest of several, under the weights of a query. There is at least one goal, and all
  //! are vertices.
  void aim(const std::int32_t* goals, std::int32_t count, const Today& today = {}) {
    if (!std::equal(goals, goals + count, goals_.begin(), goals_.end())) turn_to(goals, count);
    if (looks_) more_ = added(goals_, today);
  }

  //! The value of a vertex; computed once for each goal.
  [[gnu::always_inline]] double operator()(std::int32_t v) {
    if (plane_.at) return plane_.distance(v) * scale_;
    const std::int32_t i = place_ ? place_[v] : v;
    double kept = known_[i];
    if (!is_known(kept)) kept = find(i);
    const double value = std::min(-kept, most_) * scale_;
    if (more_ > 0.0) [[unlikely]]
      return is_goal(v) ? 0.0 : (value + more_) * (1.0 - 0x1p-51);  // the sum may round up
    return value;
  }
  void prefetch(std::int32_t v) {
    if (plane_.at) __builtin_prefetch(plane_.at + 2 * std::int64_t{v});
    else __builtin_prefetch(known_.data() + (place_ ? place_[v] : v));
  }

  const std::vector<std::int32_t>& goals() const { return goals_; }
  bool is_goal(std::int32_t v) const {
    return sorted_.empty() ? v == goals_[0] : std::binary_search(sorted_.begin(), sorted_.end(), v);
  }

 protected:
  // Distances in a plane to one goal are quicker to compute than to remember. Coordinates are kept in single precision,
  // which takes half the memory, where that is exact: on all grids.
  struct Plane {
    const float* at = nullptr;  // null: values are remembered
    bool octile = false;
    double x = 0.0, y = 0.0;  // of the goal

    double distance(std::int32_t v) const {
      const double dx = std::abs(at[2 * std::int64_t{v}] - x), dy = std::abs(at[2 * std::int64_t{v} + 1] - y);
      if (octile) return octile_distance(dx, dy);
      return std::sqrt(dx * dx + dy * dy);
    }
  };
  static double octile_distance(double dx, double dy) {
    return std::max(dx, dy) + (std::sqrt(2.0) - 1.0) * std::min(dx, dy);
  }

  void forget() {
    for (const std::int32_t i : touched_) known_[i] = 0.0;
    touched_.clear();
    goals_.clear();
  }
  virtual void turn(const std::vector<std::int32_t>& goals) = 0;
  //! What is added to the values of all vertices but the goals; asked for only if it looks.
  virtual double added(const std::vector<std::int32_t>&, const Today&) const { return 0.0; }
  //! Computes what is kept at a place, and keeps it.
  virtual double find(std::int32_t place) = 0;

  // Values are not negative. They are stored with the opposite sign, 0 as -0.0: so zero memory means that no value is
  // known.
  static bool is_known(double kept) { return std::signbit(kept); }
  double keep(std::int32_t place, double value) {
    touched_.push_back(place);
    return known_[place] = -value;
  }

  Zeroed<double> known_;
  std::vector<std::int32_t> touched_;  // the places that are not zero
  Plane plane_;
  double scale_;
  bool looks_ = false;  // at the weights of queries

 private:
  void turn_to(const std::int32_t* goals, std::int32_t count) {
    forget();  // if memory runs out in what follows, the next goal is not taken for this one
    std::vector<std::int32_t> next(goals, goals + count), sorted;
    if (count > 1) {
      sorted = next;
      std::sort(sorted.begin(), sorted.end());
    }
    turn(next);
    goals_ = std::move(next);
    sorted_ = std::move(sorted);
  }

  const std::int32_t* place_;
  double most_, more_ = 0.0;
  std::vector<std::int32_t> goals_, sorted_;  // sorted only if there are several
};

class Potential {
 public:
  explicit Potential(std::int32_t size) : n(size) {}
  Potential(const Potential&) = delete;
  Potential& operator=(const Potential&) = delete;
  virtual ~Potential() {
    for (auto& slot : idle_) delete slot.load();
  }
  const std::int32_t n;

  //! How many values were computed so far, if it counts them.
  virtual std::int64_t evaluated() const { return 0; }

  // Guides are handed out without locks, as workspaces are.
  std::unique_ptr<Guide> take() const {
    for (auto& slot : idle_)
      if (Guide* found = slot.exchange(nullptr)) return std::unique_ptr<Guide>(found);
    return make();
  }
  void give_back(std::unique_ptr<Guide> guide) const {
    for (auto& slot : idle_) {
      Guide* empty = nullptr;
      if (slot.compare_exchange_strong(empty, guide.get())) {
        guide.release();
        return;
      }
    }
  }

 protected:
  virtual std::unique_ptr<Guide> make() const = 0;

 private:
  mutable std::array<std::atomic<Guide*>, 32> idle_{};
};

// A guide for as long as this lives.
class Guided {
 public:
  explicit Guided(const Potential& potential) : potential_(&potential), guide_(potential.take()) {}
  Guided(Guided&& other) noexcept = default;
  Guided(const Guided&) = delete;
  Guided& operator=(const Guided&) = delete;
  Guided& operator=(Guided&&) = delete;
  ~Guided() {
    if (guide_ && std::uncaught_exceptions() == 0) potential_->give_back(std::move(guide_));  // else not in order
  }
  Guide& operator*() { return *guide_; }

 private:
  const Potential* potential_;
  std::unique_ptr<Guide> guide_;
};

// ---------------------------------------------------------------- distances by coordinates

enum class Metric : std::uint8_t { euclidean, octile, haversine };

// `at` has two numbers for each vertex; for haversine, longitude and latitude in degrees. The formulas are those of
// rhostar/heuristics.py, which fill tables.
template <Metric metric>
class MetricGuide final : public Guide {
 public:
  // `rough` has the same coordinates in single precision, null if they would not be the same.
  MetricGuide(std::int32_t n, const double* at, const float* rough, double scale)
      : Guide(n, scale), at_(at), rough_(rough) {}

 protected:
  void turn(const std::vector<std::int32_t>& goals) override {
    plane_.at = nullptr;
    places_.clear();
    for (const std::int32_t goal : goals)
      places_.push_back({at_[2 * std::int64_t{goal}], at_[2 * std::int64_t{goal} + 1]});
    if (rough_ && goals.size() == 1) plane_ = {rough_, metric == Metric::octile, places_[0].x, places_[0].y};
  }
  double find(std::int32_t v) override {
    const double x = at_[2 * std::int64_t{v}], y = at_[2 * std::int64_t{v} + 1];
    double least = distance(x, y, places_[0]);
    for (std::size_t i = 1; i < places_.size(); ++i) least = std::min(least, distance(x, y, places_[i]));
    return keep(v, least);
  }

 private:
  struct Place {
    double x, y;
  };
  static double distance(double x, double y, const Place& goal) {
    const double dx = std::abs(x - goal.x), dy = std::abs(y - goal.y);
    if constexpr (metric == Metric::euclidean) return std::hypot(dx, dy);
    if constexpr (metric == Metric::octile) return octile_distance(dx, dy);
    constexpr double radian = 3.14159265358979323846 / 180.0, earth_radius = 6'371'008.8;
    const double a = std::sin(dy * radian / 2), b = std::sin(dx * radian / 2);
    const double half = a * a + std::cos(y * radian) * std::cos(goal.y * radian) * b * b;
    return 2 * earth_radius * std::asin(std::sqrt(std::min(half, 1.0)));
  }

  const double* at_;
  const float* rough_;
  std::vector<Place> places_;
};

class MetricPotential final : public Potential {
 public:
  MetricPotential(std::int32_t size, Metric metric, const double* at, double scale)
      : Potential(size), metric_(metric), at_(at), scale_(scale) {
    if (metric == Metric::haversine) return;
    const double* const end = at + 2 * std::int64_t{size};
    if (std::all_of(at, end, [](double x) { return static_cast<double>(static_cast<float>(x)) == x; }))
      rough_.assign(at, end);
  }

 protected:
  std::unique_ptr<Guide> make() const override {
    const float* const rough = rough_.empty() ? nullptr : rough_.data();
    if (metric_ == Metric::euclidean) return std::make_unique<MetricGuide<Metric::euclidean>>(n, at_, rough, scale_);
    if (metric_ == Metric::octile) return std::make_unique<MetricGuide<Metric::octile>>(n, at_, rough, scale_);
    return std::make_unique<MetricGuide<Metric::haversine>>(n, at_, nullptr, scale_);
  }

 private:
  Metric metric_;
  const double* at_;
  std::vector<float> rough_;
  double scale_;
};

// ---------------------------------------------------------------- landmarks

// Distances to and from k landmarks, `to` and `from` with k numbers for each vertex; +inf where there is no path.
// d(v, t) is at least d(v, l) - d(t, l) and d(l, t) - d(l, v) for every landmark l. inf - inf says nothing; a bound of
// +inf says that there is no path, and becomes `beyond`, which no finite bound exceeds: rho stays consistent.
class LandmarkGuide final : public Guide {
 public:
  LandmarkGuide(std::int32_t n, std::int32_t k, const double* to, const double* from, double beyond, double scale)
      : Guide(n, scale, beyond), k_(k), to_(to), from_(from) {}

 protected:
  void turn(const std::vector<std::int32_t>& goals) override { rows_ = goals; }
  double find(std::int32_t v) override {
    double least = bound(v, rows_[0]);
    for (std::size_t i = 1; i < rows_.size(); ++i) least = std::min(least, bound(v, rows_[i]));
    return keep(v, least);
  }

 private:
  double bound(std::int32_t v, std::int32_t t) const {
    const double *to_v = to_ + std::int64_t{v} * k_, *to_t = to_ + std::int64_t{t} * k_;
    const double *from_v = from_ + std::int64_t{v} * k_, *from_t = from_ + std::int64_t{t} * k_;
    double most = 0.0;
    for (std::int32_t l = 0; l < k_; ++l) {  // a comparison with NaN is false
      const double there = to_v[l] - to_t[l], back = from_t[l] - from_v[l];
      if (there > most) most = there;
      if (back > most) most = back;
    }
    return most;
  }

  std::int32_t k_;
  const double *to_, *from_;
  std::vector<std::int32_t> rows_;
};

class LandmarkPotential final : public Potential {
 public:
  LandmarkPotential(std::int32_t size, std::int32_t k, const double* to, const double* from, double beyond,
                    double scale)
      : Potential(size), k_(k), to_(to), from_(from), beyond_(beyond), scale_(scale) {}

 protected:
  std::unique_ptr<Guide> make() const override {
    return std::make_unique<LandmarkGuide>(n, k_, to_, from_, beyond_, scale_);
  }

 private:
  std::int32_t k_;
  const double *to_, *from_;
  double beyond_, scale_;
};

// ---------------------------------------------------------------- where weights are below bounds

// Another potential, lowered: the larger of `factor` times its value and its value less `loss`.
class LoweredGuide final : public Guide {
 public:
  LoweredGuide(const Potential& of, double factor, double loss, std::atomic<std::int64_t>& evaluated)
      : Guide(of.n, 1.0), of_(of), factor_(factor), loss_(loss), evaluated_(evaluated) {}

 protected:
  void turn(const std::vector<std::int32_t>& goals) override {
    (*of_).aim(goals.data(), static_cast<std::int32_t>(goals.size()));
  }
  double find(std::int32_t v) override {
    evaluated_.fetch_add(1, std::memory_order_relaxed);
    const double value = (*of_)(v);
    return keep(v, std::max(factor_ * value, value - loss_));
  }

 private:
  Guided of_;
  double factor_, loss_;
  std::atomic<std::int64_t>& evaluated_;
};

class LoweredPotential final : public Potential {
 public:
  // The factor is between 0 and 1, and the loss is not negative.
  LoweredPotential(const Potential& of, double factor, double loss)
      : Potential(of.n), of_(of), factor_(factor), loss_(loss) {}
  std::int64_t evaluated() const override { return evaluated_.load(std::memory_order_relaxed); }

 protected:
  std::unique_ptr<Guide> make() const override {
    return std::make_unique<LoweredGuide>(of_, factor_, loss_, evaluated_);
  }

 private:
  const Potential& of_;
  double factor_, loss_;
  mutable std::atomic<std::int64_t> evaluated_{0};
};

}  // namespace rhostar
