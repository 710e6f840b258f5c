// Queries with weights of their own.
#include "hierarchy/reprice.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings/common.hpp"
#include "bindings/hierarchy/hierarchy.hpp"
#include "hierarchy/combine.hpp"

namespace rhostar::bindings {

namespace {

using ClassNumbers = nb::ndarray<const std::uint16_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The class of each edge, all of them below `count`.
struct EdgeClasses {
  ClassNumbers of;
  std::size_t count;
};

std::unique_ptr<EdgeClasses> edge_classes(ClassNumbers of, std::size_t count) {
  if (!std::all_of(of.data(), of.data() + of.size(), [&](std::uint16_t each) { return each < count; })) return nullptr;
  return std::make_unique<EdgeClasses>(std::move(of), count);
}

// Null if the arrays do not fit each other.
std::unique_ptr<QueryPrices> prices_of(const std::vector<Table>& rows, std::vector<double> coefficients,
                                       const EdgeClasses* classes, std::vector<double> factors, const Positions& edges,
                                       const Table& weights) {
  if (rows.empty() || rows.size() != coefficients.size() || edges.size() != weights.size()) return nullptr;
  auto made = std::make_unique<QueryPrices>();
  made->edges = static_cast<std::int64_t>(rows[0].size());
  for (const Table& row : rows) {
    if (row.size() != rows[0].size() || !is_aligned(row.data())) return nullptr;
    made->of.rows.push_back(row.data());
    made->arrays.push_back(std::make_shared<Table>(row));
  }
  made->of.coefficients = std::move(coefficients);
  if (classes) {
    if (classes->of.size() != rows[0].size() || factors.size() != classes->count) return nullptr;
    made->of.class_of = classes->of.data();
    made->of.factors = std::move(factors);
    made->arrays.push_back(std::make_shared<ClassNumbers>(classes->of));
  }
  for (std::size_t i = 0; i < edges.size(); ++i)
    if (edges(i) < 0 || edges(i) >= made->edges || !(weights(i) >= 0.0)) return nullptr;
  made->of.set(edges.data(), weights.data(), edges.size());
  return made;
}

// The weights of some edges, or of all.
nb::object weights_at(const QueryPrices& prices, const Positions& edges) {
  const bool all = !edges.is_valid();
  const std::int64_t size = all ? prices.edges : static_cast<std::int64_t>(edges.size());
  std::vector<double> found(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t edge = all ? i : edges(static_cast<std::size_t>(i));
    if (edge < 0 || edge >= prices.edges) throw nb::value_error("not an edge");
    found[static_cast<std::size_t>(i)] = prices.of(edge);
  }
  return to_numpy(std::move(found));
}

struct Repriced {
  Ending ending;  // done, or budget
  double cost = infinity;
  std::int64_t expanded = 0, reopened = 0;
  std::vector<std::int32_t> vertices, edges;
};

// What a search holds of each hierarchy that guides it.
class Guiding {
 public:
  Guiding(Customization& on)
      : on_(on), hierarchy_(*on.hierarchy), reading_(on, Reading::Lock::with), guide_(hierarchy_.take_guide()) {}
  Guiding(const Guiding&) = delete;
  Guiding& operator=(const Guiding&) = delete;
  ~Guiding() {
    if (std::uncaught_exceptions() == 0) hierarchy_.give_back(std::move(guide_));
  }
  Term term(double scale) { return {&reading_.view(), &reading_.lanes(), guide_.get(), nullptr, scale}; }
  // What the search itself needs; a path of today does not.
  const float* up() {
    single_ = on_.single_lengths();
    return single_->up.data();
  }

 private:
  Customization& on_;
  Hierarchy& hierarchy_;
  Reading reading_;
  std::unique_ptr<IndexGuide> guide_;
  std::shared_ptr<const Customization::Single> single_;
};

// A shortest path under the prices. The indexes, each times its scale, cost no more than the prices on any edge but
// those with a price of their own. `same` says that there is one, and that it costs the same on these. `whole` says
// that all weights are integers and all scales are 1.
Repriced search_repriced(Graph& graph, const QueryPrices& prices,
                         const std::vector<std::shared_ptr<Customization>>& indexes, const std::vector<double>& scales,
                         bool same, bool whole, std::int64_t source, std::int64_t target, std::int64_t budget,
                         Stop* stop) {
  bool fits = graph.has_vertex(source) && graph.has_vertex(target) && prices.edges == graph.csr.m &&
              indexes.size() == scales.size() && (!same || indexes.size() == 1);
  for (const auto& index : indexes)
    fits = fits && index && index->costs && index->hierarchy->topology.graph.m == graph.csr.m &&
           index->hierarchy->topology.graph.n == graph.csr.n;
  if (!fits) return bad_input<Repriced>();
  const auto s = static_cast<std::int32_t>(source), t = static_cast<std::int32_t>(target);
  Repriced out;
  LateUnlock interrupt(stop);
  const auto run = [&] {
    std::vector<std::unique_ptr<Guiding>> guiding;
    std::vector<Term> terms;
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      guiding.push_back(std::make_unique<Guiding>(*indexes[i]));
      terms.push_back(guiding.back()->term(scales[i]));
    }
    const std::vector<Fall> falls =
        terms.empty() ? std::vector<Fall>{} : find_falls(graph.csr, prices.of, terms, whole);
    if (same && falls.empty()) {
      // Nothing became cheaper: if the path of today is as it was, it is the answer.
      const auto is_as_it_was = [&](std::int32_t edge) { return is_unchanged(edge, prices.of, terms[0]); };
      if (!Query(*terms[0].on, *terms[0].lanes).path(s, t, out.cost, out.vertices, out.edges, is_as_it_was))
        return void(out.ending.status = Status::bad_input);
      if (out.cost == infinity || !out.vertices.empty()) return;
      out.cost = infinity;
    }
    Options options;
    options.interrupt = &interrupt;
    options.first_look = 2'000;
    if (budget >= 0) {
      const auto closing = static_cast<std::int64_t>(2 * falls.size() * falls.size());
      if (closing > budget) return void(out.ending.status = Status::budget);
      options.budget = budget - closing;
      out.expanded = closing;
    }
    for (std::size_t i = 0; i < terms.size(); ++i) terms[i].up = guiding[i]->up();
    for (const Term& term : terms) {
      out.ending = aim_term(term, terms.size(), t, falls, interrupt);
      if (out.ending.status != Status::done) return;
    }
    keep_large(terms, s);
    double shrink = 1.0;
    if (!whole && !terms.empty()) {
      Hierarchy& first = *indexes[0]->hierarchy;
      shrink = shrink_of(first.guide_rows.get(first.topology.skeleton).roundings, falls.size(), terms.size());
    }
    Lease workspace(graph.pool, graph.csr.n);
    NoLog log;
    const auto search = [&](const auto& arcs, const auto& rule) {
      const Outcome found = query(PricedArcs(arcs, prices.of), rule, s, t, options, *workspace, log, out.vertices);
      out.expanded += found.expanded;
      out.reopened = found.reopened;
      out.cost = found.cost;
      if (found.status == Status::solved || found.status == Status::no_path) return;
      out.ending = {.status = found.status, .offender = found.offender};
      out.cost = infinity;
      out.vertices.clear();
    };
    const auto search_with = [&](const auto& rule) {
      if (graph.order) search(OrderedArcs<double>(*graph.order, prices.of.rows[0]), rule);
      else search(OutArcs<double>{graph.csr, prices.of.rows[0]}, rule);
    };
    if (terms.empty()) search_with(DijkstraRule{});
    else search_with(AStar<SumRho>{{terms, shrink}});
    for (std::size_t i = 0; i + 1 < out.vertices.size(); ++i)
      out.edges.push_back(find_arc(graph.csr, out.vertices[i], out.vertices[i + 1]));
  };
  run();
  interrupt.lock();
  interrupt.raise_if_signalled();
  return out;
}

// The rows of a sum that does not exceed the limit and is worth as much as possible, each with its factor.
std::vector<std::pair<std::size_t, double>> combination(const Tables& rows, const Table& worth, const Table& limit) {
  if (rows.shape(0) != worth.size() || rows.shape(1) != limit.size()) throw nb::value_error("rows, worth and limit");
  const Combination best = best_combination(rows.data(), worth.data(), worth.size(), limit.data(), limit.size());
  std::vector<std::pair<std::size_t, double>> found;
  if (best.a > 0.0) found.emplace_back(best.one, best.a);
  if (best.b > 0.0) found.emplace_back(best.other, best.b);
  return found;
}

}  // namespace

void bind_reprice(nb::module_& module, GraphClass& graph) {
  nb::class_<EdgeClasses>(module, "EdgeClasses");
  nb::class_<QueryPrices>(module, "Prices").def("at", &weights_at, nb::arg("edges").noconvert().none());
  module.def("edge_classes", &edge_classes, nb::arg("of").noconvert(), nb::arg("count"));
  module.def("prices", &prices_of, nb::arg("rows").noconvert(), nb::arg("coefficients"), nb::arg("classes").none(),
             nb::arg("factors"), nb::arg("edges").noconvert(), nb::arg("weights").noconvert());
  module.def("combination", &combination, nb::arg("rows").noconvert(), nb::arg("worth").noconvert(),
             nb::arg("limit").noconvert());
  auto found = bind_result<Repriced>(module, "Repriced");
  found.def_ro("cost", &Repriced::cost);
  found.def_ro("expanded", &Repriced::expanded);
  found.def_ro("reopened", &Repriced::reopened);
  bind_array<&Repriced::vertices>(found, "vertices");
  bind_array<&Repriced::edges>(found, "edges");
  graph.def("search_repriced", &search_repriced, nb::arg("prices"), nb::arg("indexes"), nb::arg("scales"),
            nb::arg("same"), nb::arg("whole"), nb::arg("source"), nb::arg("target"), nb::arg("budget"),
            nb::arg("stop").none());
}

}  // namespace rhostar::bindings
