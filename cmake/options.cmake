# What a builder can choose, and the compiler settings that every source shares.
option(ASC_WERROR "Treat warnings as errors" OFF)
option(ASC_TESTS "Build the C++ unit tests" OFF)
set(ASC_SANITIZE "" CACHE STRING "Sanitizers to build with: address, undefined, thread, or a comma list")
set(ASC_ISAS "" CACHE STRING "Instruction sets to build kernels for (empty: all of this processor family)")
set(ASC_MODULE_DIR "${CMAKE_BINARY_DIR}/python/ascend_array_api" CACHE PATH
    "Where a build (not an install) puts the extension module")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(ASC_CCACHE ccache)
if(ASC_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${ASC_CCACHE}")
endif()

add_library(asc_options INTERFACE)
target_include_directories(asc_options INTERFACE "${PROJECT_SOURCE_DIR}/cpp")
# Contraction would make the bits depend on what the compiler happens to fuse.
target_compile_options(asc_options INTERFACE -ffp-contract=off -Wall -Wextra
    $<$<BOOL:${ASC_WERROR}>:-Werror>)

if(ASC_SANITIZE)
    target_compile_options(asc_options INTERFACE
        -O1 -g -fno-omit-frame-pointer -fsanitize=${ASC_SANITIZE} -fno-sanitize-recover=all)
    target_link_options(asc_options INTERFACE -fsanitize=${ASC_SANITIZE})
    set(ASC_STRIP NOSTRIP)
else()
    target_compile_options(asc_options INTERFACE
        $<$<CONFIG:Release>:$<IF:$<BOOL:$<TARGET_PROPERTY:ASC_KERNELS>>,-O3,-O2>>)
    set(ASC_STRIP "")
endif()
