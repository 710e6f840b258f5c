// The searches of insertion_order.hpp on a networkx graph: weights are read from the attributes of its edges when the
// search comes to them, so a weight that was changed counts, and a short query touches little.
//
// All of this runs with the interpreter lock: it reads Python objects in every step.
#include <nanobind/stl/vector.h>

#include "bindings/common.hpp"
#include "networkx/insertion_order.hpp"

namespace rhostar::bindings {

namespace {

using insertion::Number;
using insertion::Read;
using insertion::Scratch;

PyTypeObject* numpy_int64 = nullptr;  // held for the life of the process

// Numbers that double arithmetic adds as Python does. The small integers and floats of numpy are not among them: they
// overflow and round in their own way.
Read number_of(PyObject* value, Number& number) {
  if (PyFloat_CheckExact(value)) {
    number = {PyFloat_AsDouble(value), true};
    return Read::number;
  }
  if (PyFloat_Check(value)) {
    number = {PyFloat_AsDouble(value), true};
    return PyErr_Occurred() ? Read::failed : Read::number;
  }
  PyObject* integer = nullptr;
  if (PyLong_Check(value)) integer = Py_NewRef(value);
  else if (Py_TYPE(value) == numpy_int64) integer = PyNumber_Index(value);
  else return Read::unknown;
  if (!integer) return Read::failed;
  int overflow = 0;
  const long long whole = PyLong_AsLongLongAndOverflow(integer, &overflow);
  Py_DECREF(integer);
  constexpr long long limit = 1LL << 53;
  if (overflow || whole >= limit || whole <= -limit) return Read::unknown;
  number = {static_cast<double>(whole), false};
  return Read::number;
}

PyObject* python_number(const Number& number) {
  return number.real ? PyFloat_FromDouble(number.value) : PyLong_FromLongLong(static_cast<long long>(number.value));
}

nb::object object_of(const Number& number) {
  PyObject* made = python_number(number);
  if (!made) nb::raise_python_error();
  return nb::steal(made);
}

// One arc. `item` is what the adjacency of networkx holds: the attributes of the edge, or a dict of those of parallel
// edges. The other two say where attributes and weight were when they were last read. They may have gone since: nothing
// is read from there, it is only fetched into the cache.
struct Arc {
  PyObject* item;
  const void* attributes;
  const void* weight;
  std::int32_t head;
};
static_assert(sizeof(Arc) == 32);

// What one query reads the arcs with. `weight` is the name of an attribute, or a function; `nodes` has the node of each
// vertex. `turned`: the arcs are those of the graph turned round.
class Reader {
 public:
  Reader(Arc* arcs, PyObject* nodes, PyObject* weight, bool parallel, bool turned = false)
      : arcs_(arcs), nodes_(nodes), weight_(weight), computed_(PyCallable_Check(weight)), parallel_(parallel),
        turned_(turned) {}

  void estimates_are(const double* table) { table_ = table; }
  void estimates_are(PyObject* function, std::int32_t target) {
    function_ = function;
    target_ = target;
  }

  std::int32_t head(std::int32_t arc) const { return arcs_[arc].head; }

  Read weight(std::int32_t arc, std::int32_t tail, Number& number) {
    Arc& read = arcs_[arc];
    if (computed_) return computed(turned_ ? read.head : tail, turned_ ? tail : read.head, read.item, number);
    if (!PyDict_CheckExact(read.item)) return Read::unknown;
    return parallel_ ? least(read, number) : attribute(read.item, read, number);
  }

  Read estimate(std::int32_t vertex, Number& number) {
    if (table_) {
      number = {table_[vertex], true};
      return Read::number;
    }
    if (!function_) return Read::number;
    PyObject* const arguments[] = {PyList_GetItem(nodes_, vertex), PyList_GetItem(nodes_, target_)};
    return called(function_, arguments, 2, number);
  }

  // A weight is four steps away: the arc, the dict, its table, and the number.
  void first(std::int32_t begin, std::int32_t end) const {
    __builtin_prefetch(&arcs_[begin]);
    __builtin_prefetch(&arcs_[end]);
  }
  void second(std::int32_t begin, std::int32_t end) const {
    for (const Arc* arc = arcs_ + begin; arc != arcs_ + end; ++arc) {
      __builtin_prefetch(arc->item);
      __builtin_prefetch(arc->attributes);
    }
  }
  void third(std::int32_t begin, std::int32_t end) const {
    for (const Arc* arc = arcs_ + begin; arc != arcs_ + end; ++arc) {
      __builtin_prefetch(arc->weight);
#ifndef Py_LIMITED_API  // where the table is, is not part of it
      if (!PyDict_CheckExact(arc->item)) continue;
      const auto* table = reinterpret_cast<const char*>(reinterpret_cast<PyDictObject*>(arc->item)->ma_keys);
      __builtin_prefetch(table);  // its head, and its first entry
      __builtin_prefetch(table + 64);
#endif
    }
  }

  bool goes_on() { return ++steps_ % 1024 != 0 || PyErr_CheckSignals() == 0; }

 private:
  Read called(PyObject* function, PyObject* const* arguments, std::size_t count, Number& number) {
    PyObject* result = PyObject_Vectorcall(function, arguments, count, nullptr);
    if (!result) return Read::failed;
    const Read read = result == Py_None ? Read::hidden : number_of(result, number);
    Py_DECREF(result);
    return read;
  }

  Read computed(std::int32_t tail, std::int32_t head, PyObject* item, Number& number) {
    PyObject* const arguments[] = {PyList_GetItem(nodes_, tail), PyList_GetItem(nodes_, head), item};
    return called(weight_, arguments, 3, number);
  }

  Read attribute(PyObject* attributes, Arc& arc, Number& number) {
    PyObject* value = PyDict_GetItemWithError(attributes, weight_);
    arc.weight = value;
    if (!value) {
      number = {1, false};
      return PyErr_Occurred() ? Read::failed : Read::number;
    }
    return value == Py_None ? Read::hidden : number_of(value, number);
  }

  // The first of the minimum weights of parallel edges, as Python's min() chooses.
  Read least(Arc& arc, Number& number) {
    Py_ssize_t position = 0;
    PyObject *key, *attributes;
    bool any = false;
    while (PyDict_Next(arc.item, &position, &key, &attributes)) {
      Number other;
      if (!PyDict_CheckExact(attributes)) return Read::unknown;
      const Read read = attribute(attributes, arc, other);
      arc.attributes = attributes;
      if (read == Read::hidden && PyDict_Size(arc.item) == 1) return read;
      if (read != Read::number) return read == Read::failed ? read : Read::unknown;
      if (!any || other.value < number.value) number = other;
      if (std::isnan(other.value)) return Read::unknown;
      any = true;
    }
    return any ? Read::number : Read::unknown;
  }

  Arc* arcs_;
  PyObject* nodes_;
  PyObject* weight_;
  bool computed_, parallel_, turned_;
  const double* table_ = nullptr;
  PyObject* function_ = nullptr;
  std::int32_t target_ = 0;
  std::uint32_t steps_ = 0;
};

struct PathAnswer {
  Ending ending;
  nb::object cost = nb::none();  // an int or a float, as networkx would have it
  nb::object path = nb::none();  // a list of nodes
};

struct TreeAnswer {
  Ending ending;
  nb::object distance = nb::none();      // by node, in the order of closing
  nb::object paths = nb::none();         // by node, or None if they were not asked for
  nb::object predecessors = nb::none();  // by node, in the order of finding; or None
};

// The adjacency of a networkx graph, in its order, loops included. It keeps the dicts of the edges alive, in a list
// that nobody else has.
class Links {
 public:
  Links(Indices first_out, Indices head, nb::list data, nb::list nodes, bool parallel)
      : first_out_(std::move(first_out)), data_(std::move(data)), nodes_(std::move(nodes)), parallel_(parallel),
        links_{first_out_.data(), static_cast<std::int32_t>(first_out_.size()) - 1} {
    bool good = first_out_.size() > 0 && first_out_(0) == 0 && nodes_.size() == first_out_.size() - 1;
    for (std::size_t v = 1; good && v < first_out_.size(); ++v) good = first_out_(v) >= first_out_(v - 1);
    good = good && static_cast<std::size_t>(first_out_(first_out_.size() - 1)) == head.size();
    good = good && data_.size() == head.size();
    for (std::size_t a = 0; good && a < head.size(); ++a) good = 0 <= head(a) && head(a) < links_.n;
    if (!good) throw nb::value_error("these offsets, heads and nodes do not form a graph");
    arcs_.reserve(head.size() + 1);
    for (std::size_t a = 0; a < head.size(); ++a)
      arcs_.push_back({nb::handle(data_[a]).ptr(), nullptr, nullptr, head(a)});
  }
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  // For the garbage collector: attributes of an edge may refer to the graph that keeps the links.
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(data_.ptr());
    Py_VISIT(nodes_.ptr());
    return 0;
  }
  void clear() {
    arcs_.clear();
    links_.n = 0;
    data_ = nb::list();
    nodes_ = nb::list();
  }

  PathAnswer astar(nb::object weight, std::int32_t source, std::int32_t target, nb::object heuristic, double cutoff) {
    if (!has(source) || !has(target)) return bad_input<PathAnswer>();
    Reader reader = reads(weight);
    Table table;
    if (PyCallable_Check(heuristic.ptr())) reader.estimates_are(heuristic.ptr(), target);
    else if (!heuristic.is_none()) {
      if (!nb::try_cast(heuristic, table, false) || !is_table(table, static_cast<std::size_t>(links_.n)))
        return bad_input<PathAnswer>();
      reader.estimates_are(table.data());
    }
    Borrowed scratch(*this);
    std::vector<std::int32_t> path;
    PathAnswer answer;
    answer.ending = ending(insertion::astar(links_, reader, source, target, cutoff, *scratch, path));
    if (answer.ending.status == Status::solved) answer.path = nodes_of(path);
    return answer;
  }

  PathAnswer dijkstra(nb::object weight, const std::vector<std::int32_t>& sources, std::int32_t target, double cutoff) {
    if (!have(sources) || !has(target)) return bad_input<PathAnswer>();
    Reader reader = reads(weight);
    Borrowed scratch(*this);
    PathAnswer answer;
    answer.ending = ending(insertion::dijkstra(links_, reader, sources, target, cutoff, *scratch, nullptr));
    if (answer.ending.status != Status::solved) return answer;
    std::vector<std::int32_t> path;
    for (std::int32_t v = target; v != insertion::none; v = (*scratch)[v].parent) {
      path.push_back(v);
      if (path.size() > static_cast<std::size_t>(links_.n)) {  // negative weights
        answer.ending.status = Status::contradiction;
        return answer;
      }
    }
    std::reverse(path.begin(), path.end());
    answer.path = nodes_of(path);
    answer.cost = object_of((*scratch)[target].g);
    return answer;
  }

  TreeAnswer tree(nb::object weight, const std::vector<std::int32_t>& sources, double cutoff, bool paths,
                  bool predecessors) {
    if (!have(sources)) return bad_input<TreeAnswer>();
    Reader reader = reads(weight);
    Borrowed scratch(*this);
    insertion::Predecessors all;
    if (predecessors) all.of.resize(static_cast<std::size_t>(links_.n));
    TreeAnswer answer;
    answer.ending = ending(
        insertion::dijkstra(links_, reader, sources, insertion::none, cutoff, *scratch, predecessors ? &all : nullptr));
    if (answer.ending.status != Status::done) return answer;
    nb::dict distance;
    for (const std::int32_t v : scratch->closed) distance[nodes_[v]] = object_of((*scratch)[v].g);
    answer.distance = distance;
    if (paths) answer.paths = paths_of(sources, *scratch);
    if (predecessors) {
      nb::dict found;
      for (const std::int32_t v : all.found) found[nodes_[v]] = nodes_of(all.of[static_cast<std::size_t>(v)]);
      answer.predecessors = found;
    }
    return answer;
  }

  PathAnswer bidirectional(nb::object weight, Links& back, std::int32_t source, std::int32_t target) {
    const bool good = back.links_.n == links_.n && has(source) && has(target);
    if (!good) return bad_input<PathAnswer>();
    Reader forward = reads(weight), backward = back.reads(weight, true);
    Borrowed ahead(*this), behind(*this);
    std::vector<std::int32_t> path;
    Number cost;
    PathAnswer answer;
    answer.ending = ending(
        insertion::bidirectional(links_, back.links_, forward, backward, source, target, *ahead, *behind, cost, path));
    if (answer.ending.status != Status::solved) return answer;
    answer.path = nodes_of(path);
    answer.cost = object_of(cost);
    return answer;
  }

 private:
  // A scratch for one query. A heuristic may ask for another path in the same graph: that query gets its own.
  class Borrowed {
   public:
    explicit Borrowed(Links& links) : links_(links) {
      if (links.idle_.empty()) {
        scratch_ = std::make_unique<Scratch>(links.links_.n);
      } else {
        scratch_ = std::move(links.idle_.back());
        links.idle_.pop_back();
      }
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    ~Borrowed() {
      if (links_.idle_.size() < 2) links_.idle_.push_back(std::move(scratch_));
    }
    Scratch& operator*() { return *scratch_; }
    Scratch* operator->() { return scratch_.get(); }

   private:
    Links& links_;
    std::unique_ptr<Scratch> scratch_;
  };

  bool has(std::int32_t v) const { return 0 <= v && v < links_.n; }
  bool have(const std::vector<std::int32_t>& vertices) const {
    return std::all_of(vertices.begin(), vertices.end(), [this](std::int32_t v) { return has(v); });
  }
  Reader reads(const nb::object& weight, bool turned = false) {
    return Reader(arcs_.data(), nodes_.ptr(), weight.ptr(), parallel_, turned);
  }

  // Passes on what a function of the user or a signal raised.
  static Ending ending(const insertion::End& end) {
    if (PyErr_Occurred()) nb::raise_python_error();
    return {.status = end.status, .offender = end.offender};
  }

  nb::list nodes_of(const std::vector<std::int32_t>& vertices) {
    nb::list nodes;
    for (const std::int32_t v : vertices) nodes.append(nodes_[v]);
    return nodes;
  }

  nb::dict paths_of(const std::vector<std::int32_t>& sources, Scratch& scratch) {
    nb::dict paths;
    for (const std::int32_t v : sources) paths[nodes_[v]] = nodes_of({v});
    std::size_t distinct = nb::len(paths);
    for (const std::int32_t v : scratch.closed) {
      if (distinct > 0) {  // networkx takes the first ones for the sources
        --distinct;
        continue;
      }
      if (scratch[v].parent == insertion::none) {  // a source that a negative weight made late; networkx fails alike
        PyErr_SetObject(PyExc_KeyError, nb::object(nodes_[v]).ptr());
        nb::raise_python_error();
      }
      const nb::object before = paths[nodes_[scratch[v].parent]];
      PyObject* path = PySequence_Concat(before.ptr(), nodes_of({v}).ptr());
      if (!path) nb::raise_python_error();
      paths[nodes_[v]] = nb::steal(path);
    }
    return paths;
  }

  Indices first_out_;
  nb::list data_, nodes_;
  bool parallel_;
  insertion::Links links_;
  std::vector<Arc> arcs_;
  std::vector<std::unique_ptr<Scratch>> idle_;
};

int traverse_links(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<Links>(self)->traverse(visit, arg) : 0;
}
int clear_links(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<Links>(self)->clear();
  return 0;
}
PyType_Slot links_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_links)},
                             {Py_tp_clear, reinterpret_cast<void*>(&clear_links)},
                             {0, nullptr}};

}  // namespace

void bind_links(nb::module_& module) {
  nb::object type = nb::module_::import_("numpy").attr("int64");
  numpy_int64 = reinterpret_cast<PyTypeObject*>(type.release().ptr());
  auto path = bind_result<PathAnswer>(module, "PathAnswer");
  path.def_ro("cost", &PathAnswer::cost).def_ro("path", &PathAnswer::path);
  auto tree = bind_result<TreeAnswer>(module, "TreeAnswer");
  tree.def_ro("distance", &TreeAnswer::distance)
      .def_ro("paths", &TreeAnswer::paths)
      .def_ro("predecessors", &TreeAnswer::predecessors);
  nb::class_<Links>(module, "Links", nb::type_slots(links_slots))
      .def(nb::init<Indices, Indices, nb::list, nb::list, bool>(), nb::arg("first_out").noconvert(),
           nb::arg("head").noconvert(), nb::arg("data"), nb::arg("nodes"), nb::arg("parallel"))
      .def("astar", &Links::astar, nb::arg("weight").none(), nb::arg("source"), nb::arg("target"),
           nb::arg("heuristic").none(), nb::arg("cutoff"))
      .def("dijkstra", &Links::dijkstra, nb::arg("weight").none(), nb::arg("sources"), nb::arg("target"),
           nb::arg("cutoff"))
      .def("tree", &Links::tree, nb::arg("weight").none(), nb::arg("sources"), nb::arg("cutoff"), nb::arg("paths"),
           nb::arg("predecessors"))
      .def("bidirectional", &Links::bidirectional, nb::arg("weight").none(), nb::arg("back"), nb::arg("source"),
           nb::arg("target"));
}

}  // namespace rhostar::bindings
