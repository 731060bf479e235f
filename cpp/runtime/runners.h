// Runners: threads that run recorded work in the background. There are as many as were ever busy at
// the same time, up to a limit; they sleep when there is nothing to do.
//
// Lock rule: one mutex guards the list of what waits for a runner; it is never held while work
// runs.
#pragma once
#include <atomic>

namespace asc::runners {

// Lets a runner call work(context) soon; false where there is none, then nothing was noted down.
bool submit(void (*work)(void* context), void* context) noexcept;
// Set when work shall end early, by stop().
const std::atomic<bool>& stopping();
// At the interpreter's end: takes no more work, and waits until what runs has stopped.
void stop();
// Once.
void install_fork_handlers();

}  // namespace asc::runners
