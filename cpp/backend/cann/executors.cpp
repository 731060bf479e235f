#include "backend/cann/executors.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backend/cann/errors.h"

namespace asc::cann {
namespace {

constexpr size_t kMostHeld = 512;

// Sets the memory of a tensor; the function has had two names.
aclnnStatus (*set_address())(aclOpExecutor*, size_t, aclTensor*, void*) {
    return acl().aclSetTensorAddr ? acl().aclSetTensorAddr : acl().AclSetTensorAddr;
}

bool can_repeat() {
    return acl().aclSetAclOpExecutorRepeatable && acl().aclDestroyAclOpExecutor && set_address();
}

}  // namespace

// ---- signatures

void Signature::add(const View& x, bool written) {
    const auto dtype = static_cast<int64_t>(x.dtype);
    words_.insert(words_.end(), {x.ndim(), dtype, x.offset, x.capacity});
    words_.insert(words_.end(), x.shape.begin(), x.shape.end());
    words_.insert(words_.end(), x.strides.begin(), x.strides.end());
    kind_.insert(kind_.end(), {dtype, x.ndim()});
    addresses_.push_back(x.base);
    (written ? results_ : sources_).push_back(x.base);
}

void Signature::add(const Number& x, bool) {
    int64_t halves[2];
    std::memcpy(halves, x.bytes, sizeof(halves));
    words_.insert(words_.end(), {static_cast<int64_t>(x.dtype), halves[0], halves[1]});
    kind_.push_back(static_cast<int64_t>(x.dtype));
}

void Signature::add(const Dims& x, bool) {
    words_.push_back(x.size());
    words_.insert(words_.end(), x.begin(), x.end());
}

bool Signature::repeats() const {
    return std::find_first_of(results_.begin(), results_.end(), sources_.begin(), sources_.end()) ==
           results_.end();
}

size_t Signature::Hash::operator()(const Signature& s) const {
    constexpr uint64_t kPrime = 0x9E3779B97F4A7C15;
    uint64_t hash = 0;
    for (const int64_t word : s.words_) {
        hash = (hash ^ static_cast<uint64_t>(word)) * kPrime;
        hash ^= hash >> 29;
    }
    return hash;
}

// ---- executors

Prepared* Executors::find(const Signature& signature) {
    if (!signature.repeats()) return nullptr;
    const auto entry = found_.find(signature);
    if (entry == found_.end()) return nullptr;
    Prepared& prepared = entry->second.prepared;
    for (size_t i = 0; i < prepared.tensors.size(); ++i) {
        std::byte* address = signature.addresses()[i];
        if (prepared.addresses[i] == address) continue;
        check("aclSetTensorAddr",
              set_address()(prepared.executor, i, prepared.tensors[i], address));
        prepared.addresses[i] = address;
    }
    order_.splice(order_.begin(), order_, entry->second.place);
    ++stats_.reused;
    return &prepared;
}

Prepared* Executors::keep(const Signature& signature, Prepared& prepared) {
    ++stats_.made;
    if (!can_repeat() || !signature.repeats() || unrepeatable_.contains(signature.kind()))
        return &prepared;
    if (acl().aclSetAclOpExecutorRepeatable(prepared.executor) != 0) {
        acl().aclGetRecentErrMsg();  // or it would belong to the next error
        unrepeatable_.insert(signature.kind());
        return &prepared;
    }
    collect();
    if (found_.size() >= kMostHeld) retire(found_.find(*order_.back()), mark());
    prepared.addresses = signature.addresses();
    const auto entry = found_.try_emplace(signature).first;
    order_.push_front(&entry->first);
    entry->second = {std::move(prepared), order_.begin()};
    return &entry->second.prepared;
}

void Executors::forget(const Signature& signature) {
    if (const auto entry = found_.find(signature); entry != found_.end()) retire(entry, mark());
}

// What was queued may still use it.
std::shared_ptr<Mark> Executors::mark() {
    try {
        return stream_.mark();
    } catch (const Error&) {
        return nullptr;  // the stream is lost, and runs nothing more
    }
}

void Executors::retire(Map::iterator entry, std::shared_ptr<Mark> mark) {
    retired_.push_back({std::move(entry->second.prepared), std::move(mark)});
    order_.erase(entry->second.place);
    found_.erase(entry);
}

void Executors::collect() {
    while (!retired_.empty() && (!retired_.front().mark || retired_.front().mark->reached())) {
        acl().aclDestroyAclOpExecutor(retired_.front().prepared.executor);
        retired_.pop_front();
    }
}

bool Executors::refuses(const char* operation, DType dtype) const {
    return std::any_of(refused_.begin(), refused_.end(), [&](const std::vector<int64_t>& kind) {
        return kind.size() > 1 && kind[0] == reinterpret_cast<intptr_t>(operation) &&
               kind[1] == static_cast<int64_t>(dtype);
    });
}

void Executors::free_cached() {
    if (found_.empty() && retired_.empty()) return;
    stream_.wait();
    while (!found_.empty()) retire(found_.begin(), nullptr);
    collect();
}

Executors::Stats Executors::stats() const {
    Stats stats = stats_;
    stats.held = static_cast<int64_t>(found_.size());
    return stats;
}

}  // namespace asc::cann
