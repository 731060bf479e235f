// The classes behind runtime.Stream and runtime.Event.
#pragma once
#include <nanobind/nanobind.h>

namespace asc::python {

void define_streams(nanobind::module_& m);

}  // namespace asc::python
