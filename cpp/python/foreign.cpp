#include "python/foreign.h"

#include <Python.h>

#include <atomic>
#include <utility>

namespace asc::python {
namespace {

std::atomic<Owner*> dropped_owners{nullptr};

// Deletes an Owner in a thread that holds the interpreter's lock: this one, or soon the main thread
// or one that comes back from waiting.
void release_owner(void* context) {
    // After the interpreter's end the owner is gone with it.
    if (!Py_IsInitialized()) return;
    auto* owner = static_cast<Owner*>(context);
    if (PyGILState_Check()) {
        delete owner;
        return;
    }
    Owner* first = dropped_owners.load(std::memory_order_relaxed);
    do {
        owner->next = first;
    } while (!dropped_owners.compare_exchange_weak(first, owner, std::memory_order_release));
    // One request is enough, and a full list of them no loss: who comes back from waiting looks,
    // too.
    if (!first) Py_AddPendingCall([](void*) { return release_queued_owners(), 0; }, nullptr);
}

}  // namespace

void release_queued_owners() {
    if (!dropped_owners.load(std::memory_order_relaxed)) return;
    Owner* owner = dropped_owners.exchange(nullptr, std::memory_order_acquire);
    // Owners may run Python code, which must not see an exception that is on its way.
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    while (owner) delete std::exchange(owner, owner->next);
    PyErr_Restore(type, value, trace);
}

Ref<Block> foreign_block(std::byte* data, int64_t nbytes, std::unique_ptr<Owner> owner) {
    return Block::borrow(data, nbytes, kCpu, release_owner, owner.release());
}

}  // namespace asc::python
