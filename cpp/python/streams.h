// The classes behind runtime.Stream and runtime.Event.
#pragma once
#include <nanobind/nanobind.h>

#include <string>

namespace asc::python {

void define_streams(nanobind::module_& m);
// The line of the program, outside this package, that is running: "file:line", or null. With the
// interpreter's lock.
const std::string* running_line();

}  // namespace asc::python
