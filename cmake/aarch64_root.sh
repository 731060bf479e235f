#!/usr/bin/env bash
# Fills the folder QEMU_LD_PREFIX with Debian 12's Python for AArch64 and all that the tests import.
# Needs arm64 among apt's architectures (dpkg --add-architecture) and pip; installs nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

root=${QEMU_LD_PREFIX:?names the folder to fill}
debian=(python3.11-minimal libpython3.11-{minimal,stdlib,dev} libc6 libgcc-s1 libstdc++6 libgomp1
    libexpat1 zlib1g libssl3 libffi8 liblzma5 libbz2-1.0 libsqlite3-0 libuuid1 libcrypt1)
platforms=(manylinux{_2_28,_2_27,_2_17,2014}_aarch64)
mapfile -t wheels < <(python3 -c '
import tomllib
facts = tomllib.load(open("pyproject.toml", "rb"))
test = facts["project"]["optional-dependencies"]["test"]
print(*facts["build-system"]["requires"], *facts["project"]["dependencies"], *test, sep="\n")')

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
(cd "$scratch" && apt-get download -q "${debian[@]/%/:arm64}")
mkdir -p "$root"
for package in "$scratch"/*.deb; do dpkg -x "$package" "$root"; done
python3 -m pip install --quiet --upgrade --target "$root/usr/local/lib/python3.11/dist-packages" \
    --python-version 3.11 --only-binary=:all: \
    "${platforms[@]/#/--platform=}" "${wheels[@]}"
