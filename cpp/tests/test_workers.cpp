// Unit tests of the worker threads: every item runs once, and what one throws reaches the caller.
#include "runtime/workers.h"

#include <atomic>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "backend/cpu/scratch.h"
#include "check.h"

namespace {

using namespace asc;

constexpr int64_t kItems = 1000;

void test_every_item_runs_once() {
    std::vector<std::atomic<int>> runs(kItems);
    workers::for_each(kItems, [&](int64_t i) { runs[static_cast<size_t>(i)]++; });
    bool once = true;
    for (const auto& n : runs) once &= n == 1;
    CHECK(once);
}

// Runs a job of which item `bad` throws; returns what the caller got.
std::string message(int64_t bad) {
    std::atomic<int> inside{0};
    try {
        workers::for_each(kItems, [&](int64_t i) {
            auto held = std::make_unique<int>(1);
            inside += *held;
            if (i == bad) {
                inside -= *held;
                throw std::runtime_error("item " + std::to_string(i));
            }
            inside -= *held;
        });
    } catch (const std::runtime_error& error) {
        CHECK(inside == 0);  // nobody works on any more
        return error.what();
    }
    return "";
}

void test_what_an_item_throws_reaches_the_caller() {
    for (int64_t bad : {int64_t{0}, int64_t{1}, kItems / 2, kItems - 1})
        CHECK(message(bad) == "item " + std::to_string(bad));
    CHECK(message(kItems) == "");
    test_every_item_runs_once();
}

void test_it_does_from_another_thread() {
    // The caller is kept in its first item until a worker has thrown.
    const auto caller = std::this_thread::get_id();
    std::atomic<bool> thrown{false};
    bool caught = false;
    try {
        workers::for_each(kItems, [&](int64_t) {
            if (std::this_thread::get_id() == caller) {
                while (!thrown) std::this_thread::yield();
                return;
            }
            thrown = true;
            throw std::runtime_error("elsewhere");
        });
    } catch (const std::runtime_error&) {
        caught = true;
    }
    CHECK(caught);
    test_every_item_runs_once();
}

void test_one_of_many_is_reported() {
    int caught = 0;
    for (int round = 0; round < 100; ++round) {
        try {
            workers::for_each(kItems, [](int64_t) { throw std::runtime_error("all of them"); });
        } catch (const std::runtime_error&) {
            ++caught;
        }
    }
    CHECK(caught == 100);
}

void test_nested_jobs_and_scratch() {
    bool caught = false;
    const cpu::Parallel par = workers::parallel();
    try {
        const cpu::Slots slots(par, kItems, 100);
        slots.spread([](int64_t i, void*) {
            workers::for_each(10, [&](int64_t k) {
                if (i == 17 && k == 3) throw std::runtime_error("inside");
            });
        });
    } catch (const std::runtime_error&) {
        caught = true;
    }
    CHECK(caught);
    test_every_item_runs_once();
}

void test_callers_at_once() {
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (int number = 0; number < 4; ++number) {
        callers.emplace_back([&] {
            for (int64_t round = 0; round < 200; ++round) {
                std::string got = message(round % 3 ? round : kItems);
                wrong += got != (round % 3 ? "item " + std::to_string(round) : "");
            }
        });
    }
    for (std::thread& caller : callers) caller.join();
    CHECK(wrong == 0);
}

}  // namespace

int main() {
    for (int threads : {1, 2, 5}) {
        workers::set_count(threads);
        test_every_item_runs_once();
        test_what_an_item_throws_reaches_the_caller();
        if (threads > 1) test_it_does_from_another_thread();
        test_one_of_many_is_reported();
        test_nested_jobs_and_scratch();
        test_callers_at_once();
    }
    if (failures == 0) std::printf("all tests passed\n");
    return failures != 0;
}
