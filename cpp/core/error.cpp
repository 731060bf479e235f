#include "core/error.h"

namespace asc {

Error named(const char* function, const Error& error) {
    if (error.kind() != ErrorKind::Memory) return error;
    return {error.kind(), std::string(function) + ": not enough memory: " + error.what()};
}

void raise(ErrorKind kind, const char* format, ...) {
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int length = std::vsnprintf(nullptr, 0, format, args);
    va_end(args);
    std::string message(static_cast<size_t>(length > 0 ? length : 0), '\0');
    std::vsnprintf(message.data(), message.size() + 1, format, again);
    va_end(again);
    throw Error(kind, std::move(message));
}

}  // namespace asc
