# The kernels: one source, compiled once for each instruction set.
#
# Defines ASC_KERNEL_TARGETS (object libraries), ASC_KERNEL_ISAS (the macro `X(v2) X(v3) X(v4)`,
# for whoever builds a list of the variants) and the target check_kernel_symbols.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    set(ASC_ALL_ISAS v2 v3 v4)
    set(ASC_FLAGS_v2 -march=x86-64-v2)
    set(ASC_FLAGS_v3 -march=x86-64-v3)
    set(ASC_FLAGS_v4 -march=x86-64-v4 -mprefer-vector-width=512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(ASC_ALL_ISAS neon)
else()
    message(FATAL_ERROR "ascend_array_api has no kernels for ${CMAKE_SYSTEM_PROCESSOR}; "
        "supported: x86-64 (v2 and later) and AArch64")
endif()
if(NOT ASC_ISAS)
    set(ASC_ISAS ${ASC_ALL_ISAS})
endif()

file(GLOB ASC_KERNEL_SOURCES CONFIGURE_DEPENDS cpp/backend/cpu/kernels/*.cpp)
set(ASC_KERNEL_TARGETS "")
set(ASC_KERNEL_ISAS "")
set(stamps "")
set(checker "${PROJECT_SOURCE_DIR}/cmake/check_kernel_symbols.py")
foreach(isa ${ASC_ISAS})
    if(NOT isa IN_LIST ASC_ALL_ISAS)
        message(FATAL_ERROR "ASC_ISAS: '${isa}' is not one of ${ASC_ALL_ISAS}")
    endif()
    set(target asc_kernels_${isa})
    add_library(${target} OBJECT ${ASC_KERNEL_SOURCES})
    set_target_properties(${target} PROPERTIES ASC_KERNELS ON)
    target_link_libraries(${target} PRIVATE asc_options)
    target_compile_definitions(${target} PRIVATE ASC_ISA=${isa})
    # Kernels do not throw, and the data of exception handling would be weak symbols. Warnings: wide
    # vectors are passed between inlined functions only, so their ABI is of no concern; GCC 12's own
    # AVX-512 headers trip over two of them (GCC bug 105593); `&` of conditions is how vector code
    # avoids branches.
    target_compile_options(${target} PRIVATE ${ASC_FLAGS_${isa}} -fno-math-errno -fno-trapping-math
        -fno-exceptions -Wno-psabi
        $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized -Wno-maybe-uninitialized>
        $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wno-bitwise-instead-of-logical>)
    list(APPEND ASC_KERNEL_TARGETS ${target})
    list(APPEND ASC_KERNEL_ISAS "X(${isa})")

    # Of several weak copies of a symbol the linker keeps any: a v4 copy would crash older CPUs.
    set(stamp "${CMAKE_BINARY_DIR}/${target}.symbols")
    add_custom_command(OUTPUT "${stamp}"
        COMMAND "${Python_EXECUTABLE}" "${checker}" --nm "${CMAKE_NM}" --isa ${isa}
            --stamp "${stamp}" $<TARGET_OBJECTS:${target}>
        DEPENDS "${checker}" $<TARGET_OBJECTS:${target}>
        COMMENT "Checking the symbols of the ${isa} kernels"
        COMMAND_EXPAND_LISTS VERBATIM)
    list(APPEND stamps "${stamp}")
endforeach()
list(JOIN ASC_KERNEL_ISAS " " ASC_KERNEL_ISAS)
add_custom_target(check_kernel_symbols ALL DEPENDS ${stamps})
