#include "state.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#define CONTROL extern "C" __attribute__((visibility("default")))

namespace cann_double {
namespace {

struct Violation {
    std::string rule, function, message;
};
struct Fault {
    std::string function;
    int code;
    uint64_t skip, times;
};

// Never destroyed: other libraries call until the very end of the process.
struct State {
    std::recursive_mutex lock;
    std::mt19937_64 dice;
    Settings settings;
    std::vector<Violation> violations;
    std::vector<Fault> faults;
    std::map<std::string, uint64_t> counters;
    bool initialized = false;
    std::vector<std::pair<std::string, Handles*>> handles;

    State();
};

State& state() {
    static auto* all = new State;
    return *all;
}

// Of one thread; never destroyed either, as destructors of other libraries may still call.
struct ThreadState {
    std::vector<std::string> functions;  // the calls that it is in
    std::string recent_error;
    std::string shown_error, shown_violation;
};

ThreadState& mine() {
    thread_local auto* all = new ThreadState;
    return *all;
}

std::string outer_function() { return mine().functions.empty() ? "" : mine().functions.front(); }

const char* environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

// "function=code", with "@n" after n calls that succeed and "xn" for n calls (1 where left out).
bool parse_fault(const std::string& text, Fault& fault) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) {
        return false;
    }
    fault = {text.substr(0, equals), 0, 0, 1};
    const char* at = text.c_str() + equals + 1;
    char* end = nullptr;
    fault.code = static_cast<int>(std::strtol(at, &end, 10));
    if (*end == '@') {
        fault.skip = std::strtoull(end + 1, &end, 10);
    }
    if (*end == 'x') {
        fault.times = std::strtoull(end + 1, &end, 10);
    }
    return *end == '\0' && fault.code != 0;
}

State::State() {
    if (const char* value = environment("CANN_DOUBLE_SEED")) {
        settings.seed = std::strtoull(value, nullptr, 10);
    }
    if (const char* value = environment("CANN_DOUBLE_DEVICES")) {
        settings.devices = std::atoi(value);
    }
    if (const char* value = environment("CANN_DOUBLE_MEMORY")) {
        settings.memory = std::strtoull(value, nullptr, 10);
    }
    if (const char* value = environment("CANN_DOUBLE_SOC")) {
        settings.soc = value;
    }
    if (const char* value = environment("CANN_DOUBLE_VERSION")) {
        settings.version = value;
    }
    settings.stub = environment("CANN_DOUBLE_STUB") != nullptr;
    dice.seed(settings.seed);
    if (const char* value = environment("CANN_DOUBLE_FAULTS")) {
        std::string list = std::string(value) + ",";
        for (size_t comma; (comma = list.find(',')) != std::string::npos;) {
            if (Fault fault; parse_fault(list.substr(0, comma), fault)) {
                faults.push_back(fault);
            } else if (comma != 0) {
                std::fprintf(stderr, "CANN_DOUBLE_FAULTS: not understood: %s\n", list.c_str());
                std::abort();
            }
            list.erase(0, comma + 1);
        }
    }
}

std::string text(const char* format, va_list arguments) {
    char buffer[1024];
    std::vsnprintf(buffer, sizeof buffer, format, arguments);
    return buffer;
}

// At once, so that a crash afterwards does not lose it.
void append_to_report(const Violation& violation) {
    const char* folder = environment("CANN_DOUBLE_REPORT");
    if (folder == nullptr) {
        return;
    }
    const std::string path = std::string(folder) + "/" + std::to_string(getpid()) + ".violations";
    if (FILE* file = std::fopen(path.c_str(), "a")) {
        std::fprintf(file, "%s: %s: %s\n", violation.rule.c_str(), violation.function.c_str(),
                     violation.message.c_str());
        std::fclose(file);
    }
}

void record(const char* rule, const std::string& message) {
    const std::string function = outer_function();
    auto& all = state().violations;
    if (!all.empty() && all.back().rule == rule && all.back().function == function &&
        all.back().message == message) {
        return;  // the same for the next element
    }
    all.push_back({rule, function, message});
    append_to_report(state().violations.back());
}

// Descriptors live for one call of an operation, or as long as an executor that runs again, so that
// any other at the end is forgotten. Streams and memory may stay: a process that shares CANN with
// others never finalizes it.
struct AtExit {
    ~AtExit() {
        std::lock_guard guard(big_lock());
        for (const auto& [kind, table] : Handles::all()) {
            const bool resource = kind == "context" || kind == "stream" || kind == "event";
            if (!resource && table->live() > table->kept) {
                record("leak",
                       std::to_string(table->live() - table->kept) + " of " + kind + " at exit");
            }
        }
    }
} at_exit;

}  // namespace

Settings& settings() { return state().settings; }
std::recursive_mutex& big_lock() { return state().lock; }
std::mt19937_64& dice() { return state().dice; }
std::vector<std::pair<std::string, Handles*>>& Handles::all() { return state().handles; }
void set_initialized(bool initialized) { state().initialized = initialized; }

Call::Call(const std::string& function, Need need) : guard_(big_lock()) {
    mine().functions.push_back(function);
    failure = injected_fault(function);
    if (failure != kOk) {
        fail(failure, "injected fault");
    } else if (need == kInitialized && !state().initialized) {
        failure = violate(kUninitialized, "uninitialized", "called before aclInit");
    }
}

Call::~Call() { mine().functions.pop_back(); }

int fail(int code, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    mine().recent_error = outer_function() + ": " + text(format, arguments);
    va_end(arguments);
    return code;
}

int violate(int code, const char* rule, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const std::string message = text(format, arguments);
    va_end(arguments);
    record(rule, message);
    return fail(code, "%s", message.c_str());
}

int injected_fault(const std::string& function) {
    auto& faults = state().faults;
    for (auto fault = faults.begin(); fault != faults.end(); ++fault) {
        if (fault->function != function) {
            continue;
        }
        if (fault->skip != 0) {
            --fault->skip;
            return kOk;
        }
        const int code = fault->code;
        if (--fault->times == 0) {
            faults.erase(fault);
        }
        return code;
    }
    return kOk;
}

void count(const std::string& counter, uint64_t amount) { state().counters[counter] += amount; }

void gauge(const std::string& counter, int64_t change) {
    uint64_t& value = state().counters[counter];
    value += static_cast<uint64_t>(change);
    uint64_t& peak = state().counters[counter + "_peak"];
    peak = std::max(peak, value);
}

extern "C" const char* aclGetRecentErrMsg() {
    // Read once, and only the latest pointer stays valid.
    ThreadState& thread = mine();
    thread.shown_error.assign(thread.shown_error.size(), '#');
    std::string latest = std::exchange(thread.recent_error, "");
    std::swap(thread.shown_error, latest);
    return thread.shown_error.empty() ? nullptr : thread.shown_error.c_str();
}

// Control: what tests call.

CONTROL uint64_t cann_double_violations() {
    std::lock_guard guard(big_lock());
    return state().violations.size();
}

CONTROL const char* cann_double_violation(uint64_t index) {
    std::lock_guard guard(big_lock());
    if (index >= state().violations.size()) {
        return nullptr;
    }
    const Violation& v = state().violations[index];
    mine().shown_violation = v.rule + ": " + v.function + ": " + v.message;
    return mine().shown_violation.c_str();
}

CONTROL void cann_double_forgive() {
    std::lock_guard guard(big_lock());
    state().violations.clear();
}

CONTROL uint64_t cann_double_counter(const char* name) {
    std::lock_guard guard(big_lock());
    const auto at = state().counters.find(name);
    return at == state().counters.end() ? 0 : at->second;
}

CONTROL void cann_double_reset_counters() {
    std::lock_guard guard(big_lock());
    auto& counters = state().counters;
    const auto before = std::exchange(counters, {});
    for (const std::string gauge : {"device_bytes", "pinned_bytes", "registered_bytes"}) {
        if (const auto held = before.find(gauge); held != before.end()) {
            counters[gauge] = counters[gauge + "_peak"] = held->second;
        }
    }
}

CONTROL uint64_t cann_double_live(const char* kind) {
    std::lock_guard guard(big_lock());
    for (const auto& [name, table] : Handles::all()) {
        if (name == kind) {
            return table->live();
        }
    }
    return UINT64_MAX;
}

CONTROL int cann_double_fault(const char* description) {
    std::lock_guard guard(big_lock());
    Fault fault;
    if (!parse_fault(description, fault)) {
        return -1;
    }
    state().faults.push_back(fault);
    return 0;
}

CONTROL void cann_double_clear_faults() {
    std::lock_guard guard(big_lock());
    state().faults.clear();
}

CONTROL void cann_double_set_seed(uint64_t seed) {
    std::lock_guard guard(big_lock());
    state().settings.seed = seed;
    state().dice.seed(seed);
}

CONTROL void cann_double_set_soc(const char* name) {
    std::lock_guard guard(big_lock());
    state().settings.soc = name;
}

CONTROL void cann_double_set_memory(uint64_t bytes) {
    std::lock_guard guard(big_lock());
    state().settings.memory = bytes;
}

}  // namespace cann_double
