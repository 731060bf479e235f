#include "backend/cann/loader.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <system_error>
#include <vector>

#include "backend/cann/chip.h"
#include "backend/cann/errors.h"

namespace asc::cann {
namespace {

// The first version whose executors can be used again (aclSetAclOpExecutorRepeatable).
constexpr int kLowestMajor = 8;

// Why CANN is not used, as a sentence.
struct Unusable {
    std::string why;
};

// Where libraries may lie; an empty string stands for the path of the system's loader.
std::vector<std::string> folders() {
    std::vector<std::string> found;
    // An installation's folder, or its folder of libraries.
    auto add = [&](const char* variable) {
        const char* value = std::getenv(variable);
        if (!value || !*value) return false;
        found.push_back(value + std::string("/lib64/"));
        found.push_back(value + std::string("/"));
        return true;
    };
    if (add("ASCEND_ARRAY_API_CANN_PATH")) return found;
    add("ASCEND_HOME_PATH");
    add("ASCEND_TOOLKIT_HOME");
    found.emplace_back();
    return found;
}

class Libraries {
  public:
    // Opens the first of several names of a library, in the first folder that has one of them.
    bool open(std::initializer_list<const char*> names) {
        for (const std::string& folder : folders()) {
            for (const char* name : names) {
                if (open(folder, name)) return true;
            }
        }
        return false;
    }
    // Opens all of them from one folder, or none.
    bool open_all(std::initializer_list<const char*> names) {
        for (const std::string& folder : folders()) {
            const size_t before = handles_.size();
            for (const char* name : names) {
                if (!open(folder, name)) break;
            }
            if (handles_.size() == before + names.size()) return true;
            handles_.resize(before);
        }
        return false;
    }
    template <class F>
    void find(F*& function, const std::string& name) const {
        void* symbol = nullptr;
        for (void* handle : handles_) {
            if (!symbol) symbol = dlsym(handle, name.c_str());
        }
        function = reinterpret_cast<F*>(symbol);
    }
    // Of the library that was opened first.
    const std::string& place() const { return place_; }
    // What the system's loader said of a library that is there, empty if none is.
    const std::string& complaint() const { return complaint_; }

  private:
    bool open(const std::string& folder, const char* name) {
        const std::string path = folder + name;
        std::error_code ignored;
        if (!folder.empty() && !std::filesystem::exists(path, ignored)) return false;
        // Never closed: CANN runs threads of its own.
        void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!handle) {
            const char* message = dlerror();
            if (!folder.empty()) complaint_ = message ? message : path;
            return false;
        }
        handles_.push_back(handle);
        if (place_.empty()) place_ = path;
        return true;
    }

    std::vector<void*> handles_;
    std::string place_, complaint_;
};

enum Need { Required, Optional };

void open_libraries(Libraries& libraries) {
    if (!libraries.open({"libacl_rt.so", "libascendcl.so"})) {
        if (!libraries.complaint().empty()) throw Unusable{"not usable: " + libraries.complaint()};
        throw Unusable{
            "not found: no libacl_rt.so or libascendcl.so where ASCEND_ARRAY_API_CANN_PATH or else "
            "ASCEND_HOME_PATH, ASCEND_TOOLKIT_HOME and the system's loader look"};
    }
    if (!libraries.open({"libnnopbase.so"})) {
        throw Unusable{"not usable: " + libraries.place() + " has no libnnopbase.so beside it"};
    }
    // One family of libraries of operations: the two must not be mixed.
    if (!libraries.open_all({"libopapi_math.so", "libopapi_nn.so"}) &&
        !libraries.open({"libopapi.so"})) {
        throw Unusable{
            "not usable: " + libraries.place() +
            " has neither libopapi_math.so and libopapi_nn.so nor libopapi.so beside it"};
    }
}

void find_functions(const Libraries& libraries, Functions& functions) {
#define ASC_CANN_FIND(need, result, name, arguments)        \
    libraries.find(functions.name, #name);                  \
    if (need == Required && !functions.name)                \
        throw Unusable{"not usable: " + libraries.place() + \
                       " and its neighbours lack " #name "; CANN 8.0 or later is needed"};
    ASC_CANN_RUNTIME(ASC_CANN_FIND)
    ASC_CANN_META(ASC_CANN_FIND)
#undef ASC_CANN_FIND
#define ASC_CANN_FIND(operation, arguments)                                     \
    functions.operation.name = #operation;                                      \
    libraries.find(functions.operation.prepare, #operation "GetWorkspaceSize"); \
    libraries.find(functions.operation.run, #operation);
    ASC_CANN_OPERATIONS(ASC_CANN_FIND)
#undef ASC_CANN_FIND
}

// Empty where the runtime does not tell.
std::string find_version(const Functions& functions) {
    char package[] = "runtime", version[128] = "";
    if (!functions.aclsysGetVersionStr || functions.aclsysGetVersionStr(package, version) != 0)
        return "";
    version[sizeof(version) - 1] = 0;
    const int major = std::atoi(version);
    if (major > 0 && major < kLowestMajor) {
        throw Unusable{"not usable: version " + std::string(version) +
                       " is too old; CANN 8.0 or later is needed"};
    }
    return version;
}

void initialise(Installation& found) {
    const Functions& functions = found.functions;
    // Others in this process may have done it, and may still need it: nothing is ever finalised.
    aclError error = functions.aclInit(nullptr);
    if (error == ACL_ERROR_COMPILING_STUB_MODE) {
        throw Unusable{"not usable: its runtime is a stub to compile with (" + describe(error) +
                       "); the driver's libraries are missing"};
    }
    if (error != 0 && error != ACL_ERROR_REPEAT_INITIALIZE)
        throw Unusable{"not usable: aclInit: " + describe(error)};
    uint32_t count = 0;
    error = functions.aclrtGetDeviceCount(&count);
    if (error == ACL_ERROR_RT_NO_DEVICE || (error == 0 && count == 0))
        throw Unusable{"found, but no device (" + describe(error) + ")"};
    if (error != 0) throw Unusable{"not usable: aclrtGetDeviceCount: " + describe(error)};
    const char* soc = functions.aclrtGetSocName();
    found.soc = soc ? soc : "";
    found.device_count = static_cast<int>(count);
}

Installation find_installation() {
    Installation found;
    Libraries libraries;
    try {
        open_libraries(libraries);
        find_functions(libraries, found.functions);
        found.version = find_version(found.functions);
        initialise(found);
        found.status = "found: " + libraries.place() + ", version " +
                       (found.version.empty() ? "unknown" : found.version) + ", " +
                       (found.soc.empty() ? "unknown chip" : found.soc) +
                       ", devices: " + std::to_string(found.device_count) + remark(chip(found.soc));
    } catch (const Unusable& unusable) {
        found.status = unusable.why;
    }
    return found;
}

}  // namespace

const Installation& installation() {
    static const Installation& found = *new Installation(find_installation());
    return found;
}

}  // namespace asc::cann
