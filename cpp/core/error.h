// Errors as data: a kind, which the bindings turn into a Python exception, and a sentence.
#pragma once
#include <cstdarg>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

namespace asc {

enum class ErrorKind {
    Type,      // TypeError
    Value,     // ValueError
    Index,     // IndexError
    Axis,      // numpy.exceptions.AxisError, a ValueError and an IndexError
    Overflow,  // OverflowError
    Memory,    // MemoryError
    Buffer,    // BufferError
    LinAlg,    // numpy.linalg.LinAlgError, a ValueError
    Runtime,   // RuntimeError
};

class Error : public std::exception {
  public:
    Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}
    ErrorKind kind() const { return kind_; }
    const char* what() const noexcept override { return message_.c_str(); }

  private:
    ErrorKind kind_;
    std::string message_;
};

// The same error of an operation: one that lacked memory says who needed it.
Error named(const char* function, const Error& error);

// Throws Error with a printf-formatted message.
[[noreturn, gnu::format(printf, 2, 3), gnu::cold]] void raise(ErrorKind kind, const char* format,
                                                              ...);

}  // namespace asc
