// An order of the vertices by nested dissection: a few vertices that separate a part into two halves come last, and the
// halves, ordered in the same way, come before them. Contracting vertices in such an order adds few arcs, for any
// weights.
//
// Separators come from sweeps and from flows. The vertices of a part are sorted along a direction. Every place in the
// middle is a cut; the one with the fewest vertices on its border is a first separator. A flow from the first vertices
// to the last ones finds the minimum number of arcs to cut in between (inertial flow), and a vertex cover of these arcs
// is a second one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/csr.hpp"
#include "engine/interrupt.hpp"
#include "engine/status.hpp"

namespace rhostar {

// Neighbors in either direction, each once and in increasing order.
struct Neighbors {
  std::vector<std::int64_t> first;
  std::vector<std::int32_t> list;

  explicit Neighbors(const Csr& graph) : first(static_cast<std::size_t>(graph.n) + 1) {
    const Transpose back(graph);
    for (int pass = 0; pass < 2; ++pass) {
      std::int64_t count = 0;
      for (std::int32_t v = 0; v < graph.n; ++v) {
        first[v] = count;
        std::int32_t i = graph.first_out[v], j = back.first_out[v];
        const std::int32_t i_end = graph.first_out[v + 1], j_end = back.first_out[v + 1];
        while (i < i_end || j < j_end) {
          std::int32_t next;
          if (j == j_end || (i < i_end && graph.head[i] <= back.head[j])) {
            next = graph.head[i];
            if (j < j_end && back.head[j] == next) ++j;
            ++i;
          } else {
            next = back.head[j++];
          }
          if (pass == 1) list[count] = next;
          ++count;
        }
      }
      first[graph.n] = count;
      if (pass == 0) list.resize(static_cast<std::size_t>(count));
    }
  }
  std::int32_t size() const { return static_cast<std::int32_t>(first.size()) - 1; }
};

// Coordinates for a graph that has none: how much nearer a vertex is, in steps, to one end of its component than to the
// other, for two pairs of ends.
inline std::vector<double> coordinates_by_steps(const Neighbors& near) {
  const std::int32_t n = near.size();
  std::vector<double> at(2 * static_cast<std::size_t>(n));
  std::vector<std::int32_t> queue, steps[4];
  for (auto& each : steps) each.assign(static_cast<std::size_t>(n), -1);
  const auto spread = [&](std::int32_t from, std::vector<std::int32_t>& distance) {
    queue.assign(1, from);
    distance[from] = 0;
    for (std::size_t next = 0; next < queue.size(); ++next)
      for (std::int64_t a = near.first[queue[next]]; a < near.first[queue[next] + 1]; ++a)
        if (distance[near.list[a]] < 0) {
          distance[near.list[a]] = distance[queue[next]] + 1;
          queue.push_back(near.list[a]);
        }
    return queue.back();  // as far as any
  };
  for (std::int32_t start = 0; start < n; ++start) {
    if (steps[1][start] >= 0) continue;
    const std::int32_t one = spread(start, steps[0]);
    const std::int32_t other = spread(one, steps[1]);
    spread(other, steps[2]);
    std::int32_t aside = start;
    for (const std::int32_t v : queue)
      if (std::min(steps[1][v], steps[2][v]) > std::min(steps[1][aside], steps[2][aside])) aside = v;
    for (const std::int32_t v : queue) steps[0][v] = -1;
    const std::int32_t across = spread(aside, steps[0]);
    spread(across, steps[3]);
    for (const std::int32_t v : queue) {
      at[2 * static_cast<std::size_t>(v)] = steps[1][v] - steps[2][v];
      at[2 * static_cast<std::size_t>(v) + 1] = steps[0][v] - steps[3][v];
    }
  }
  return at;
}

class Dissection {
 public:
  // `at` has two finite numbers for each vertex.
  Dissection(const Neighbors& near, const double* at, Interrupt& interrupt)
      : near_(near), at_(at), interrupt_(interrupt), order_(static_cast<std::size_t>(near.size())),
        owner_(order_.size()), local_(order_.size()) {}

  // Leaves in `order` the vertices, the first to be contracted first.
  Ending run() {
    std::iota(order_.begin(), order_.end(), 0);
    sort_all();
    std::vector<Part> parts{{0, near_.size()}};
    while (!parts.empty()) {
      if (interrupt_.requested()) return {.status = Status::stopped};
      const Part part = parts.back();
      parts.pop_back();
      if (part.size() <= smallest_) {
        placed_ += part.size();
        continue;
      }
      claim(part);
      if (split_components(part, parts)) continue;
      const Part rest = separate(part);
      if (stopped_) return {.status = Status::stopped};
      placed_ += part.end - rest.end;
      parts.push_back({part.begin, rest.begin});
      parts.push_back({rest.begin, rest.end});
    }
    return {};
  }
  std::vector<std::int32_t>& order() { return order_; }
  // How many vertices have their place: all at the end.
  std::int32_t placed() const { return placed_; }

 private:
  static constexpr int ways_ = 4;
  static constexpr std::int32_t smallest_ = 1;
  static constexpr std::int32_t least_for_flow_ = 24;  // below, a sweep is as good
  static constexpr double terminals_ = 0.3;            // how much of a part each end of a flow is, and of a sweep

  struct Part {  // a range of order_
    std::int32_t begin, end;
    std::int32_t size() const { return end - begin; }
  };

  // All vertices along x, y, x + y and x - y. Every part keeps its place and its order in these.
  void sort_all() {
    std::vector<std::pair<double, std::int32_t>> keys(order_.size());
    for (int way = 0; way < ways_; ++way) {
      for (std::int32_t v = 0; v < near_.size(); ++v) {
        const double x = at_[2 * std::int64_t{v}], y = at_[2 * std::int64_t{v} + 1];
        keys[v] = {way == 0 ? x : way == 1 ? y : way == 2 ? x + y : x - y, v};
      }
      std::sort(keys.begin(), keys.end());
      for (const auto& key : keys) sorted_[way].push_back(key.second);
    }
  }

  // Puts the vertices of a part into groups, in one of the lists above; group_of(v) is 0 .. sizes.size() - 1.
  template <class GroupOf>
  void regroup(std::vector<std::int32_t>& all, const Part& part, const std::vector<std::int32_t>& sizes,
               const GroupOf& group_of) {
    next_.resize(sizes.size());
    std::exclusive_scan(sizes.begin(), sizes.end(), next_.begin(), 0);
    found_.resize(static_cast<std::size_t>(part.size()));
    for (std::int32_t i = part.begin; i < part.end; ++i) found_[next_[group_of(all[i])]++] = all[i];
    std::copy(found_.begin(), found_.end(), all.begin() + part.begin);
  }

  void claim(const Part& part) {
    ++claims_;
    for (std::int32_t i = part.begin; i < part.end; ++i) {
      owner_[order_[i]] = claims_;
      local_[order_[i]] = i - part.begin;
    }
  }

  // Puts the components of a part one after the other; false if there is only one.
  bool split_components(const Part& part, std::vector<Part>& parts) {
    const std::int32_t mine = claims_;  // each component claims its vertices anew
    found_.clear();
    std::vector<std::int32_t> sizes;
    for (std::int32_t i = part.begin; i < part.end; ++i) {
      if (owner_[order_[i]] != mine) continue;
      ++claims_;
      std::size_t next = found_.size();
      sizes.push_back(-static_cast<std::int32_t>(next));
      found_.push_back(order_[i]);
      owner_[order_[i]] = claims_;
      for (; next < found_.size(); ++next)
        for (std::int64_t a = near_.first[found_[next]]; a < near_.first[found_[next] + 1]; ++a)
          if (owner_[near_.list[a]] == mine) {
            owner_[near_.list[a]] = claims_;
            found_.push_back(near_.list[a]);
          }
      sizes.back() += static_cast<std::int32_t>(found_.size());
    }
    if (sizes.size() == 1) return false;
    // Neighbors get places near each other.
    std::copy(found_.begin(), found_.end(), order_.begin() + part.begin);
    for (auto& all : sorted_) regroup(all, part, sizes, [&](std::int32_t v) { return owner_[v] - mine - 1; });
    std::int32_t begin = part.begin;
    for (const std::int32_t size : sizes) {
      parts.push_back({begin, begin + size});
      begin += size;
    }
    return true;
  }

  // ---------------------------------------------------------------- one separator

  // Arranges a connected part as first half, second half, separator, and returns where the second half is.
  Part separate(const Part& part) {
    size_ = part.size();
    collect(part);
    best_score_ = infinite_;
    for (int way = 0; way < ways_ && !stopped_; ++way) {
      arrange(part, way);
      sweep();
      if (size_ >= least_for_flow_ && !is_dense()) flow();
    }
    std::vector<std::int32_t> sizes(3, 0);
    for (std::int32_t i = 0; i < size_; ++i) ++sizes[best_side_[i]];
    const auto side_of = [&](std::int32_t v) { return best_side_[local_[v]]; };
    regroup(order_, part, sizes, side_of);
    for (auto& all : sorted_) regroup(all, part, sizes, side_of);
    return {part.begin + sizes[0], part.begin + sizes[0] + sizes[1]};
  }

  // A large part without small separators: flows would take long, and a little less would be as useless.
  bool is_dense() const { return size_ > 1000 && best_score_ > 0.25 * size_; }

  // The arcs within the part, by places in it: those of i are first_[i] .. first_[i+1]-1, and back_[a] is a's opposite.
  void collect(const Part& part) {
    first_.assign(static_cast<std::size_t>(size_) + 1, 0);
    head_.clear();
    for (std::int32_t i = 0; i < size_; ++i) {
      const std::int32_t v = order_[part.begin + i];
      for (std::int64_t a = near_.first[v]; a < near_.first[v + 1]; ++a)
        if (owner_[near_.list[a]] == claims_) head_.push_back(local_[near_.list[a]]);
      first_[i + 1] = static_cast<std::int32_t>(head_.size());
    }
    for (std::int32_t i = 0; i < size_; ++i) std::sort(head_.begin() + first_[i], head_.begin() + first_[i + 1]);
    // Arcs that are looked at by increasing tail reach each head in the order in which that vertex's own arcs lead
    // back.
    back_.resize(head_.size());
    next_.assign(first_.begin(), first_.end() - 1);
    for (std::int32_t i = 0; i < size_; ++i)
      for (std::int32_t a = first_[i]; a < first_[i + 1]; ++a) back_[a] = next_[head_[a]]++;
  }

  // The places along one of the ways.
  void arrange(const Part& part, int way) {
    along_.resize(static_cast<std::size_t>(size_));
    rank_.resize(static_cast<std::size_t>(size_));
    for (std::int32_t r = 0; r < size_; ++r) {
      along_[r] = local_[sorted_[way][part.begin + r]];
      rank_[along_[r]] = r;
    }
  }

  // Small separators are good, and so are halves of equal size.
  static double score(std::int32_t separator, std::int32_t first, std::int32_t second) {
    const double total = static_cast<double>(first) + second + 1e-9;
    const double balance = 4.0 * (first / total) * (second / total);
    return separator / std::sqrt(std::max(balance, 1e-3));
  }

  void sweep() {
    // A vertex with a neighbor at a higher rank is on the lower border of all cuts in between, and the other way
    // round.
    low_.assign(static_cast<std::size_t>(size_) + 1, 0);
    high_.assign(static_cast<std::size_t>(size_) + 1, 0);
    for (std::int32_t i = 0; i < size_; ++i) {
      const std::int32_t r = rank_[i];
      std::int32_t least = r, most = r;
      for (std::int32_t a = first_[i]; a < first_[i + 1]; ++a) {
        least = std::min(least, rank_[head_[a]]);
        most = std::max(most, rank_[head_[a]]);
      }
      ++low_[r + 1], --low_[most + 1];
      ++high_[least + 1], --high_[r + 1];
    }
    const auto margin = std::max<std::int32_t>(1, static_cast<std::int32_t>(terminals_ * size_));
    double best = infinite_;
    std::int32_t where = -1;
    bool upper = false;
    for (std::int32_t cut = 1, l = 0, h = 0; cut < size_; ++cut) {
      l += low_[cut];
      h += high_[cut];
      if (cut < margin || cut > size_ - margin) continue;
      const double lower_score = score(l, cut - l, size_ - cut), upper_score = score(h, cut, size_ - cut - h);
      if (std::min(lower_score, upper_score) < best) {
        best = std::min(lower_score, upper_score);
        where = cut;
        upper = upper_score < lower_score;
      }
    }
    if (where < 0 || best >= best_score_) return;
    best_score_ = best;
    best_side_.resize(static_cast<std::size_t>(size_));
    for (std::int32_t i = 0; i < size_; ++i) {
      const bool above = rank_[i] >= where;
      bool border = false;
      if (above == upper)
        for (std::int32_t a = first_[i]; a < first_[i + 1] && !border; ++a)
          border = (rank_[head_[a]] >= where) != above;
      best_side_[i] = border ? 2 : above ? 1 : 0;
    }
  }

  // ---------------------------------------------------------------- flows

  // The largest flow from the first vertices to the last ones, every arc carrying at most one unit either way (Dinic),
  // and the two smallest cuts that it shows: next to where it starts, and next to where it ends.
  void flow() {
    const auto margin = std::max<std::int32_t>(1, static_cast<std::int32_t>(terminals_ * size_));
    const auto is_source = [&](std::int32_t i) { return rank_[i] < margin; };
    const auto is_sink = [&](std::int32_t i) { return rank_[i] >= size_ - margin; };
    flow_.assign(head_.size(), 0);
    starts_.clear();
    for (std::int32_t r = 0; r < margin; ++r) {
      const std::int32_t i = along_[r];
      for (std::int32_t a = first_[i]; a < first_[i + 1]; ++a)
        if (!is_source(head_[a])) {
          starts_.push_back(i);
          break;
        }
    }
    std::int32_t value = 0;
    level_.resize(static_cast<std::size_t>(size_));
    while (true) {
      if (interrupt_.requested()) {
        stopped_ = true;
        return;
      }
      // Levels by breadth-first search over arcs that can carry more.
      std::fill(level_.begin(), level_.end(), -1);
      queue_.assign(starts_.begin(), starts_.end());
      for (const std::int32_t i : starts_) level_[i] = 0;
      bool arrived = false;
      for (std::size_t k = 0; k < queue_.size(); ++k) {
        const std::int32_t i = queue_[k];
        if (is_sink(i)) {
          arrived = true;
          continue;  // ways to farther sinks are found in the same round
        }
        for (std::int32_t a = first_[i]; a < first_[i + 1]; ++a)
          if (flow_[a] < 1 && level_[head_[a]] < 0 && !is_source(head_[a])) {
            level_[head_[a]] = level_[i] + 1;
            queue_.push_back(head_[a]);
          }
      }
      if (!arrived) break;
      next_.assign(first_.begin(), first_.end() - 1);
      for (const std::int32_t start : starts_)
        while (push_one(start, is_sink))
          if (++value >= 2 * best_score_) return;  // too many arcs: no vertex cover of them will do
    }
    // What the last search reached is on the first side of one cut; what can reach the sinks, on the second of another.
    side_.resize(static_cast<std::size_t>(size_));
    for (std::int32_t i = 0; i < size_; ++i) side_[i] = is_source(i) || level_[i] >= 0 ? 0 : 1;
    cover();
    queue_.clear();
    for (std::int32_t i = 0; i < size_; ++i) side_[i] = is_sink(i) ? 1 : 0;
    for (std::int32_t r = size_ - margin; r < size_; ++r) queue_.push_back(along_[r]);
    for (std::size_t k = 0; k < queue_.size(); ++k)
      for (std::int32_t a = first_[queue_[k]]; a < first_[queue_[k] + 1]; ++a)
        if (side_[head_[a]] == 0 && flow_[back_[a]] < 1) {
          side_[head_[a]] = 1;
          queue_.push_back(head_[a]);
        }
    cover();
  }

  // One unit more along the levels, depth first; false if there is no way left.
  template <class IsSink>
  bool push_one(std::int32_t start, const IsSink& is_sink) {
    way_.clear();
    std::int32_t i = start;
    while (!is_sink(i)) {
      bool on = false;
      for (std::int32_t& a = next_[i]; a < first_[i + 1]; ++a)
        if (flow_[a] < 1 && level_[head_[a]] == level_[i] + 1) {
          way_.push_back(a);
          i = head_[a];
          on = true;
          break;
        }
      if (on) continue;
      if (way_.empty()) return false;
      level_[i] = -2;  // a dead end in this round
      i = head_[back_[way_.back()]];
      ++next_[i];
      way_.pop_back();
    }
    for (const std::int32_t a : way_) {
      ++flow_[a];
      --flow_[back_[a]];
    }
    return true;
  }

  // Turns the cut between the two values of side_ into a separator: the fewest vertices that touch all arcs of the cut
  // (Koenig's theorem, from a largest matching).
  void cover() {
    left_.clear();
    mate_.assign(static_cast<std::size_t>(size_), -1);
    for (std::int32_t i = 0; i < size_; ++i)
      if (side_[i] == 0)
        for (std::int32_t a = first_[i]; a < first_[i + 1]; ++a)
          if (side_[head_[a]] == 1) {
            left_.push_back(i);
            break;
          }
    met_.assign(static_cast<std::size_t>(size_), 0);
    std::int32_t round = 0;
    for (const std::int32_t i : left_) {
      ++round;
      match(i, round);
    }
    // Left vertices that alternating paths from unmatched ones do not reach, and right ones that they do.
    std::fill(met_.begin(), met_.end(), 0);
    queue_.clear();
    for (const std::int32_t i : left_)
      if (mate_[i] < 0) {
        met_[i] = 1;
        queue_.push_back(i);
      }
    for (std::size_t k = 0; k < queue_.size(); ++k)
      for (std::int32_t a = first_[queue_[k]]; a < first_[queue_[k] + 1]; ++a) {
        const std::int32_t j = head_[a];
        if (side_[j] != 1 || met_[j]) continue;
        met_[j] = 1;
        if (mate_[j] >= 0 && !met_[mate_[j]]) {
          met_[mate_[j]] = 1;
          queue_.push_back(mate_[j]);
        }
      }
    std::int32_t separator = 0, halves[2] = {0, 0};
    const auto in_cover = [&](std::int32_t i) { return side_[i] == 0 ? mate_[i] >= 0 && !met_[i] : met_[i] != 0; };
    for (std::int32_t i = 0; i < size_; ++i)
      if (in_cover(i)) ++separator;
      else ++halves[side_[i]];
    const double value = score(separator, halves[0], halves[1]);
    if (value >= best_score_) return;
    best_score_ = value;
    best_side_.resize(static_cast<std::size_t>(size_));
    for (std::int32_t i = 0; i < size_; ++i) best_side_[i] = in_cover(i) ? 2 : side_[i];
  }

  // Looks for a partner of the left vertex i, moving others on where needed (without recursion: paths may be long).
  void match(std::int32_t i, std::int32_t round) {
    way_.clear();    // left vertices of the path
    taken_.clear();  // and the right vertices that they want
    way_.push_back(i);
    next_[i] = first_[i];
    while (!way_.empty()) {
      const std::int32_t u = way_.back();
      bool deeper = false;
      for (std::int32_t& a = next_[u]; a < first_[u + 1]; ++a) {
        const std::int32_t j = head_[a];
        if (side_[j] != 1 || met_[j] == round) continue;
        met_[j] = round;
        taken_.push_back(j);
        if (mate_[j] < 0) {
          for (std::size_t k = 0; k < way_.size(); ++k) {
            mate_[way_[k]] = taken_[k];
            mate_[taken_[k]] = way_[k];
          }
          return;
        }
        way_.push_back(mate_[j]);
        next_[mate_[j]] = first_[mate_[j]];
        deeper = true;
        break;
      }
      if (deeper) continue;
      way_.pop_back();
      if (!taken_.empty()) taken_.pop_back();
      if (!way_.empty()) ++next_[way_.back()];
    }
  }

  static constexpr double infinite_ = std::numeric_limits<double>::infinity();
  const Neighbors& near_;
  const double* at_;
  Interrupt& interrupt_;
  std::int32_t placed_ = 0;
  bool stopped_ = false;
  std::vector<std::int32_t> order_, owner_, local_, found_, sorted_[ways_];
  std::int32_t claims_ = 0;
  // Of the part at hand, by places in it.
  std::int32_t size_ = 0;
  std::vector<std::int32_t> first_, head_, back_, rank_, low_, high_, starts_, level_, queue_, next_, way_;
  std::vector<std::int32_t> left_, mate_, met_, taken_, along_;
  std::vector<std::int8_t> flow_, side_, best_side_;
  double best_score_ = infinite_;
};

}  // namespace rhostar
