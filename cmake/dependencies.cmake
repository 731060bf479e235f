# Python, nanobind and OpenBLAS. The latter two are Python packages that know where they are.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
find_package(Threads REQUIRED)

execute_process(
    COMMAND "${Python_EXECUTABLE}" -c
        "import nanobind, scipy_openblas32 as o; print(nanobind.cmake_dir(), o.get_lib_dir(), sep=';', end='')"
    OUTPUT_VARIABLE ASC_DEPENDENCY_DIRS
    COMMAND_ERROR_IS_FATAL ANY)
list(GET ASC_DEPENDENCY_DIRS 0 nanobind_DIR)
list(GET ASC_DEPENDENCY_DIRS 1 ASC_OPENBLAS_DIR)

find_package(nanobind CONFIG REQUIRED)
find_package(OpenBLAS CONFIG REQUIRED PATHS "${ASC_OPENBLAS_DIR}/cmake/openblas" NO_DEFAULT_PATH)

if(ASC_TESTS)
    # The reference of the accuracy test; without it the test uses long double.
    include(CheckSourceCompiles)
    set(CMAKE_REQUIRED_LIBRARIES quadmath)
    check_source_compiles(CXX
        "#include <quadmath.h>\nint main() { return static_cast<int>(expq(0)) - 1; }"
        ASC_HAS_QUADMATH)
    unset(CMAKE_REQUIRED_LIBRARIES)
endif()
