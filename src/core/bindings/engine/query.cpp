// One query per call from Python: a Run, or an Ending that says why there is none.
//
// A short query takes about a microsecond, and general bindings would cost more than that. So the arguments are read,
// and the Run is made, with Python's and numpy's own C interfaces. Arguments in any other than the plain form end with
// bad_input: the Python side then converts them, or says what is wrong.
#include "bindings/common.hpp"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include <algorithm>
#include <array>
#include <new>

namespace rhostar::bindings {

namespace {

// The Python classes of the results and the members of the public Status, in the order of the core's; and the answer to
// arguments that are not in the plain form. Held for the life of the process.
PyObject* run_class = nullptr;
PyObject* trace_class = nullptr;
PyObject* not_plain = nullptr;
allocfunc make_run = nullptr;
std::array<PyObject*, 3> statuses{};

void results_are(nb::handle run, nb::handle trace, nb::handle names) {
  for (std::size_t i = 0; i < statuses.size(); ++i) statuses[i] = nb::object(names[i]).release().ptr();
  run_class = nb::borrow(run).release().ptr();
  trace_class = nb::borrow(trace).release().ptr();
  not_plain = nb::cast(Ending{.status = Status::bad_input}).release().ptr();
  make_run = reinterpret_cast<allocfunc>(PyType_GetSlot(reinterpret_cast<PyTypeObject*>(run_class), Py_tp_alloc));
}

// ---------------------------------------------------------------- arguments

// The data of a one-dimensional array as the core takes it, or null.
PyArrayObject* plain_array(PyObject* value, std::int64_t size) {
  if (!PyArray_Check(value)) return nullptr;
  auto* array = reinterpret_cast<PyArrayObject*>(value);
  const bool plain = PyArray_NDIM(array) == 1 && PyArray_DIM(array, 0) == size && PyArray_ISCARRAY_RO(array);
  return plain ? array : nullptr;
}

const double* table_of(PyObject* value, std::int64_t n) {
  PyArrayObject* array = plain_array(value, n);
  return array && PyArray_TYPE(array) == NPY_DOUBLE ? static_cast<const double*>(PyArray_DATA(array)) : nullptr;
}

// Calls f with a typed pointer to the weights; their type is one that `is_weight_type` knows.
template <class F>
void with_plain_weights(PyArrayObject* weights, F&& f) {
  const void* data = PyArray_DATA(weights);
  const int type = PyArray_TYPE(weights);
  if (type == NPY_DOUBLE) f(static_cast<const double*>(data));
  else if (type == NPY_FLOAT) f(static_cast<const float*>(data));
  else if (type == NPY_INT) f(static_cast<const std::int32_t*>(data));
  else f(static_cast<const std::int64_t*>(data));
}
static_assert(sizeof(int) == 4 && sizeof(long long) == 8);

bool is_weight_type(int type) {
  return type == NPY_DOUBLE || type == NPY_FLOAT || type == NPY_INT || type == NPY_LONGLONG ||
         (type == NPY_LONG && sizeof(long) == 8);
}

// An integer or what acts as one; `missing` for everything else.
std::int64_t integer(PyObject* value, std::int64_t missing) {
  PyObject* number = PyNumber_Index(value);
  const std::int64_t result = number ? PyLong_AsLongLong(number) : -1;
  Py_XDECREF(number);
  if (result != -1 || !PyErr_Occurred()) return result;
  PyErr_Clear();
  return missing;
}

struct Query {
  Graph& graph;
  bool greedy = false, trace = false;
  PyArrayObject* weights = nullptr;
  std::int32_t source = 0, goal = 0;
  const std::int32_t* goals = &goal;  // several, for a potential alone
  std::int32_t goal_count = 1;
  const double* rho = nullptr;
  const Potential* potential = nullptr;  // instead of rho
  const Potential* bounding = nullptr;   // instead of a table of lower bounds
  Options options{};
  Stop* stop = nullptr;

  // (greedy, weights, source, goal, rho, reopen, budget, lower_bound, trace, stop); false if the Python side
  // has to look at them.
  bool read(PyObject* const* arguments) {
    const auto flag = [&](int i, bool& value) {
      value = arguments[i] == Py_True;
      return value || arguments[i] == Py_False;
    };
    const auto vertex = [&](int i, std::int32_t& value) {
      const std::int64_t number = integer(arguments[i], -1);
      value = static_cast<std::int32_t>(number);
      return graph.has_vertex(number);
    };
    // Integers first: they may run the user's code, and the arrays must not change after they were looked at.
    if (!vertex(2, source) || !(several(arguments[3]) || vertex(3, goal))) return false;
    if (arguments[6] != Py_None && (options.budget = integer(arguments[6], -1)) < 0) return false;
    if (!flag(0, greedy) || !flag(5, options.reopen) || !flag(8, trace)) return false;
    weights = plain_array(arguments[1], graph.csr.m);
    rho = table_of(arguments[4], graph.csr.n);
    if (!weights || !is_weight_type(PyArray_TYPE(weights)) || !(rho || (potential = guide_of(arguments[4]))))
      return false;
    if (goals != &goal && (rho || trace)) return false;
    options.lower_bound.table = table_of(arguments[7], graph.csr.n);
    if (arguments[7] != Py_None && !(options.lower_bound || (bounding = guide_of(arguments[7])))) return false;
    return arguments[9] == Py_None || nb::try_cast(nb::handle(arguments[9]), stop);
  }

 private:
  // An array of vertices, the nearest of which is the goal.
  bool several(PyObject* value) {
    if (!PyArray_Check(value)) return false;
    PyArrayObject* array = plain_array(value, PyArray_SIZE(reinterpret_cast<PyArrayObject*>(value)));
    if (!array || PyArray_TYPE(array) != NPY_INT || PyArray_DIM(array, 0) == 0) return false;
    goals = static_cast<const std::int32_t*>(PyArray_DATA(array));
    goal_count = static_cast<std::int32_t>(PyArray_DIM(array, 0));
    goal = goals[0];
    return std::all_of(goals, goals + goal_count, [&](std::int32_t v) { return graph.has_vertex(v); });
  }
  // A potential for this graph, or null.
  const Potential* guide_of(PyObject* value) const {
    if (!nb::isinstance<SharedPotential>(nb::handle(value))) return nullptr;
    const Potential& found = nb::inst_ptr<SharedPotential>(nb::handle(value))->get();
    return found.n == graph.csr.n ? &found : nullptr;
  }
};

// ---------------------------------------------------------------- results

PyObject* path_array(const std::vector<std::int32_t>& path) {
  npy_intp size = static_cast<npy_intp>(path.size());
  PyObject* array = PyArray_SimpleNew(1, &size, NPY_INT);
  if (array)
    std::copy(path.begin(), path.end(), static_cast<int*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array))));
  return array;
}

// `trace` is the course of the run, or None; it is taken over.
PyObject* run_of(const Outcome& out, const std::vector<std::int32_t>& path, bool bounded, nb::object trace) {
  PyObject* run = make_run(reinterpret_cast<PyTypeObject*>(run_class), 9);
  if (!run) return nullptr;
  PyObject* const fields[] = {Py_NewRef(statuses[static_cast<std::size_t>(out.status)]),
                              PyFloat_FromDouble(out.cost),
                              path_array(path),
                              PyLong_FromLongLong(out.expanded),
                              PyLong_FromLongLong(out.generated),
                              PyLong_FromLongLong(out.reopened),
                              PyLong_FromLongLong(out.peak_open),
                              bounded ? PyFloat_FromDouble(out.bound) : Py_NewRef(Py_None),
                              trace.release().ptr()};
  bool whole = true;
  for (Py_ssize_t i = 0; i < 9; ++i) {
    whole = whole && fields[i];
    PyTuple_SetItem(run, i, fields[i]);
  }
  if (whole) return run;
  Py_DECREF(run);
  return nullptr;
}

nb::object trace_of(EventLog& log, std::int32_t goal) {
  return nb::handle(trace_class)(goal, to_numpy(std::move(log.kind)), to_numpy(std::move(log.vertex)),
                                 to_numpy(std::move(log.g)));
}
nb::object trace_of(NoLog&, std::int32_t) { return nb::none(); }

template <class Rule, class Log>
PyObject* answer(Query& query, const Rule& rule) {
  Graph& graph = query.graph;
  Outcome out;
  Log log;
  std::vector<std::int32_t> path;
  LateUnlock interrupt(query.stop);
  query.options.interrupt = &interrupt;
  query.options.first_look = 2'000;
  with_plain_weights(query.weights, [&](const auto* data) {
    using W = std::remove_cvref_t<decltype(*data)>;
    Lease workspace(graph.pool, graph.csr.n);
    const auto run = [&](const auto& arcs) {
      out = rhostar::query(arcs, rule, query.source, query.goal, query.options, *workspace, log, path);
    };
    // A trace is the same in any order: no second kernel for it.
    if (std::is_same_v<Log, NoLog> && graph.order) {
      if constexpr (std::is_same_v<Log, NoLog>) run(OrderedArcs<W>(*graph.order, data));
    } else {
      run(OutArcs<W>{graph.csr, data});
    }
  });
  interrupt.lock();
  interrupt.raise_if_signalled();
  if (!is_end_of_run(out.status))
    return nb::cast(Ending{.status = out.status, .offender = out.offender}).release().ptr();
  return run_of(out, path, static_cast<bool>(query.options.lower_bound), trace_of(log, query.goal));
}

template <class Rho>
PyObject* answer_from(Query& query, const Rho& rho) {
  if (query.trace)
    return query.greedy ? answer<Greedy<Rho>, EventLog>(query, {rho}) : answer<AStar<Rho>, EventLog>(query, {rho});
  return query.greedy ? answer<Greedy<Rho>, NoLog>(query, {rho}) : answer<AStar<Rho>, NoLog>(query, {rho});
}

PyObject* solve(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 10 || !run_class) {
    PyErr_SetString(PyExc_TypeError, "solve takes 10 arguments");
    return nullptr;
  }
  Query query{*nb::inst_ptr<Graph>(nb::handle(self))};
  if (!query.read(arguments)) return Py_NewRef(not_plain);
  try {
    const auto aimed = [&](const Potential& potential) {
      Guided guide(potential);
      with_plain_weights(query.weights,
                         [&](const auto* data) { (*guide).aim(query.goals, query.goal_count, Today(data)); });
      return guide;
    };
    std::optional<Guided> rho, bound;
    if (query.potential) rho.emplace(aimed(*query.potential));
    if (query.bounding && query.bounding != query.potential) bound.emplace(aimed(*query.bounding));
    if (query.bounding) query.options.lower_bound.guide = &**(bound ? bound : rho);
    if (query.rho) return answer_from(query, TableRho{query.rho});
    return answer_from(query, GuideRho{&**rho});
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception&) {  // nothing else in there but memory can run out
    PyErr_NoMemory();
  }
  return nullptr;
}

PyMethodDef solve_method = {"solve", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&solve)), METH_FASTCALL,
                            nullptr};

void* import_numpy() {
  import_array();
  return nullptr;
}

}  // namespace

void bind_query(nb::module_& module, GraphClass& graph) {
  import_numpy();
  if (PyErr_Occurred()) nb::raise_python_error();
  module.def("results_are", &results_are, nb::arg("run"), nb::arg("trace"), nb::arg("statuses"));
  graph.attr("solve") = nb::steal(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(graph.ptr()), &solve_method));
}

}  // namespace rhostar::bindings
