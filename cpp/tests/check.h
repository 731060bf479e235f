// CHECK for unit tests: what fails is printed and counted.
#pragma once
#include <cstdio>

namespace {

int failures = 0;

}  // namespace

#define CHECK(condition)                                                \
    do {                                                                \
        if (!(condition)) {                                             \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            ++failures;                                                 \
        }                                                               \
    } while (false)
