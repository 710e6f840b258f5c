// A hierarchy and its customizations as Python objects.
#pragma once

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "bindings/common.hpp"
#include "hierarchy/guide.hpp"
#include "hierarchy/query.hpp"
#include "hierarchy/reprice.hpp"
#include "hierarchy/update.hpp"

namespace rhostar::bindings {

// What is made once for each graph, with the arrays that it reads.
struct Hierarchy {
  Indices first_out, head;
  std::vector<Indices> parts;  // of the skeleton, or all that a file has
  Topology topology;
  Lazy<GuideRows> guide_rows;

  // Costs to be written, which are no longer in use: fresh memory would have to be filled with zeros by the system.
  std::unique_ptr<Costs> take_costs() {
    auto costs = take(spare_, [&] { return std::make_unique<Costs>(topology); });
    costs->renew();
    return costs;
  }
  // Those with this version, or null.
  std::unique_ptr<Costs> take_costs_of(std::uint64_t version) {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(spare_.begin(), spare_.end(), [&](const auto& costs) { return costs->version == version; });
    if (version == 0 || found == spare_.end()) return nullptr;
    auto costs = std::move(*found);
    spare_.erase(found);
    return costs;
  }
  std::unique_ptr<Lanes> take_lanes() {
    return take(lanes_, [&] { return std::make_unique<Lanes>(topology.graph.n); });
  }
  std::unique_ptr<IndexGuide> take_guide() {
    return take(guides_, [&] { return std::make_unique<IndexGuide>(topology, guide_rows.get(topology.skeleton)); });
  }
  std::unique_ptr<Changes> take_changes() {
    return take(changes_, [&] { return std::make_unique<Changes>(topology.skeleton); });
  }
  void give_back(std::unique_ptr<Costs> costs) { give_back(spare_, 2, std::move(costs)); }
  void give_back(std::unique_ptr<Lanes> lanes) { give_back(lanes_, 32, std::move(lanes)); }
  void give_back(std::unique_ptr<IndexGuide> guide) { give_back(guides_, 32, std::move(guide)); }
  void give_back(std::unique_ptr<Changes> changes) { give_back(changes_, 2, std::move(changes)); }

 private:
  template <class T, class Make>
  std::unique_ptr<T> take(std::vector<std::unique_ptr<T>>& spare, Make&& make) {
    {
      const std::lock_guard lock(mutex_);
      if (!spare.empty()) {
        auto found = std::move(spare.back());
        spare.pop_back();
        return found;
      }
    }
    return make();
  }
  template <class T>
  void give_back(std::vector<std::unique_ptr<T>>& spare, std::size_t most, std::unique_ptr<T> used) {
    const std::lock_guard lock(mutex_);
    if (spare.size() < most) spare.push_back(std::move(used));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Costs>> spare_;
  std::vector<std::unique_ptr<Lanes>> lanes_;
  std::vector<std::unique_ptr<IndexGuide>> guides_;
  std::vector<std::unique_ptr<Changes>> changes_;
};

// One set of weights. Queries read it, and updates in place write it.
struct Customization {
  Ending ending;
  std::shared_ptr<Hierarchy> hierarchy;
  std::unique_ptr<Costs> costs;
  // The lengths up of one version, rounded down, for guides; made when they are first needed.
  struct Single {
    std::uint64_t version;
    std::vector<float> up;
  };
  std::shared_ptr<const Single> single;
  mutable std::shared_mutex mutex;  // never waited for with the interpreter lock: its holder may want that one
  std::mutex updating;              // one update in place at a time; comes before `mutex`

  Customization() = default;
  Customization(const Customization&) = delete;
  Customization& operator=(const Customization&) = delete;
  ~Customization() {
    if (costs) hierarchy->give_back(std::move(costs));
  }
  // While nobody writes to it.
  std::shared_ptr<const Single> single_lengths() {
    auto made = std::atomic_load(&single);
    if (made && made->version == costs->version) return made;
    auto fresh = std::make_shared<Single>(costs->version, std::vector<float>(costs->length.size()));
    const Pair* const length = costs->length.data();
    for (std::size_t arc = 0; arc < fresh->up.size(); ++arc) fresh->up[arc] = at_most<float>(length[arc][0]);
    std::atomic_store(&single, std::shared_ptr<const Single>(fresh));
    return fresh;
  }
  Customized view() const { return {hierarchy->topology, costs->weight.data(), costs->length.data()}; }
};

// For as long as it lives, nobody writes to the customization, and it has a set of lanes.
class Reading {
 public:
  // With or without the interpreter lock; if it is held, it is released while waiting.
  enum class Lock { without, with };
  Reading(const Customization& on, Lock lock)
      : hierarchy_(*on.hierarchy), lock_(on.mutex, std::defer_lock), lanes_(hierarchy_.take_lanes()) {
    if (lock == Lock::without) {
      lock_.lock();
    } else if (!lock_.try_lock()) {
      Unlocked unlocked;
      lock_.lock();
    }
    view_.emplace(on.view());
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  ~Reading() {
    if (std::uncaught_exceptions() == 0) hierarchy_.give_back(std::move(lanes_));  // else not in order: no memory
  }
  const Customized& view() const { return *view_; }
  Lanes& lanes() { return *lanes_; }

 private:
  Hierarchy& hierarchy_;
  std::shared_lock<std::shared_mutex> lock_;
  std::unique_ptr<Lanes> lanes_;
  std::optional<Customized> view_;
};

}  // namespace rhostar::bindings
