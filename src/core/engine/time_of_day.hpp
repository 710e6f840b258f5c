// Weights that depend on the time of day, and the arcs of a search on them.
//
// Every edge has one weight at each of some moments, and weights in between are linear. After the last moment either
// the last weight stays, or everything repeats after a period. A weight is closed (+inf) wherever one of the two around
// it is. Arriving is a(t) = t + w(t). If a never falls on any edge, an earlier departure never arrives later, and
// Dijkstra's search and A* are exact although weights depend on the cost so far. If it may fall, waiting before the
// edge restores this: the arrival is the minimum of a over all times from t, and a is linear between moments, so that
// minimum is at t itself or at a later moment; `soonest` has the latter.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "engine/best_first.hpp"
#include "engine/csr.hpp"
#include "engine/workspace.hpp"

namespace rhostar {

struct TimeOfDay {
  const double* times;    // increasing
  std::int32_t bins;      // how many
  double period;          // +inf: the last weight stays
  const double* weights;  // a row for each time
  std::int64_t edges;     // the length of a row
  const double* soonest;  // rows as the weights: the earliest arrival by waiting for a later moment; null: no waiting
  // The edges of the rows behind each arc's edge, where these are not the same: member[first[e]] and so on.
  const std::int64_t *first, *member;

  bool repeats() const { return period < infinity; }

  struct Moment {
    double time, day;  // the time, and how much of it are full periods
    std::int32_t bin;  // it is between this moment and the next; -1: before the first
    double share;      // of the way to the next
  };

  Moment at(double time) const {
    const double day = repeats() ? std::floor((time - times[0]) / period) * period : 0.0;
    const double local = time - day;
    const auto bin = static_cast<std::int32_t>(std::upper_bound(times, times + bins, local) - times) - 1;
    if (bin < 0) return repeats() ? Moment{time, day, 0, 0.0} : Moment{time, day, -1, 0.0};
    if (bin == bins - 1 && !repeats()) return {time, day, bin, 0.0};
    return {time, day, bin, std::min((local - times[bin]) / (end(bin) - times[bin]), 1.0)};
  }

  // What an edge of the rows costs at a moment, waiting included.
  double over_one(std::int64_t e, const Moment& now) const {
    if (now.bin < 0) return infinity;
    const double here = row(now.bin)[e];
    double weight = here;
    if (now.share > 0.0) {
      const double next = row(after(now.bin))[e];
      weight = here < infinity && next < infinity ? here + (next - here) * now.share : infinity;
    }
    if (soonest) weight = std::min(weight, now.day + (soonest + now.bin * edges)[e] - now.time);
    return std::max(weight, 0.0);
  }

  // How much earlier one must enter an edge of the rows to be at its end at a moment; +inf: no departure is known.
  double back_one(std::int64_t e, const Moment& then) const {
    const double arrive = then.time;
    double day = then.day, least = infinity;
    std::int32_t bin = then.bin;
    for (std::int32_t looked = 0; bin >= 0; ++looked) {
      if (looked > bins) {  // a whole period without one
        if (!(least < infinity)) return infinity;
        day -= std::max(std::floor((least - arrive) / period) - 1.0, 0.0) * period;
        looked = 0;
        least = infinity;
      }
      const double left = day + times[bin], here = row(bin)[e];
      least = std::min(least, left + here);
      if (bin == bins - 1 && !repeats()) {
        if (left + here <= arrive) return here;  // from then on the weight stays
      } else {
        const double right = day + end(bin), next = row(after(bin))[e];
        if (here < infinity && next < infinity) {
          const double first_arrival = left + here, last_arrival = right + next;
          if (last_arrival <= arrive) return arrive - right;
          if (first_arrival <= arrive) {
            const double share = (arrive - first_arrival) / (last_arrival - first_arrival);
            return std::max(arrive - (left + share * (right - left)), 0.0);
          }
        } else if (left + here <= arrive) {
          return arrive - left;  // open at that moment alone
        }
      }
      if (--bin < 0 && repeats()) {
        bin = bins - 1;
        day -= period;
      }
    }
    return infinity;
  }

  // The least over the edges of the rows behind an arc's edge, and which one it is.
  template <bool against>
  double of(std::int64_t e, const Moment& now, std::int64_t* chosen = nullptr) const {
    const auto one = [&](std::int64_t u) { return against ? back_one(u, now) : over_one(u, now); };
    if (!first) {
      if (chosen) *chosen = e;
      return one(e);
    }
    double least = infinity;
    std::int64_t best = member[first[e]];
    for (std::int64_t i = first[e]; i < first[e + 1]; ++i) {
      const double cost = one(member[i]);
      if (cost < least) {
        least = cost;
        best = member[i];
      }
    }
    if (chosen) *chosen = best;
    return least;
  }

  const double* row(std::int32_t bin) const { return weights + bin * edges; }

 private:
  std::int32_t after(std::int32_t bin) const { return bin + 1 < bins ? bin + 1 : 0; }
  double end(std::int32_t bin) const { return bin + 1 < bins ? times[bin + 1] : times[0] + period; }
};

// Arcs whose weights depend on when the search enters them: `begin` plus the cost so far; against the arcs, minus it.
template <class Base, bool against>
struct TimedArcs : Base {
  const TimeOfDay* day;
  const Node* nodes;  // of the search, which has written g of a vertex before it enters it
  double begin;
  TimeOfDay::Moment now{};

  TimedArcs(const Base& base, const TimeOfDay& of_day, const Node* records, double time)
      : Base(base), day(&of_day), nodes(records), begin(time) {}
  void enter(std::int32_t v) {
    Base::enter(v);
    now = day->at(against ? begin - nodes[v].g : begin + nodes[v].g);
  }
  double weight(std::int32_t arc) const { return day->template of<against>(this->edge(arc), now); }
};

}  // namespace rhostar
