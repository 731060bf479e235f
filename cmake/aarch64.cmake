# Toolchain of a cross build for AArch64 with Debian's compiler; programs run under qemu-user.
#
# The environment's QEMU_LD_PREFIX names the root that cmake/aarch64_root.sh filled: Python, its
# headers, the packages it imports and the C library; QEMU itself reads the same variable.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
set(Python_EXECUTABLE "$ENV{QEMU_LD_PREFIX}/usr/bin/python3.11")
set(Python_INCLUDE_DIR "$ENV{QEMU_LD_PREFIX}/usr/include/python3.11")
# Debian's pyconfig.h includes that of the architecture by a path from here.
set(CMAKE_CXX_FLAGS_INIT "-isystem $ENV{QEMU_LD_PREFIX}/usr/include")
