#!/bin/sh
# Compiles the programs in programs/ with nvcc and runs them on the GPU at hand: what they
# expect of CUDA is what a GPU does.
#
#     run_on_gpu.sh [ARCH]     sm_90, ...; default: native, the GPU that is there
#
# One line a program, with what it printed if it failed; last "N passed, N failed". Exit status 1 if
# any failed.

arch=${1:-native}
here=$(cd "$(dirname "$0")" && pwd)
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
seconds=120 # for what hangs; each takes a moment
built=$(mktemp -d) && trap 'rm -rf "$built"' EXIT || exit 1
export arch here nvcc built

# The compilers take most of the time: as many at once as there are cores.
ls "$here"/programs/*.cu | xargs -P "$(nproc)" -I{} sh -c '
    name=$(basename "$1" .cu)
    "$nvcc" -std=c++17 -arch="$arch" "$1" -o "$built/$name" >"$built/$name.log" 2>&1' sh {}

passed=0 failed=0
for source in "$here"/programs/*.cu; do
    name=$(basename "$source" .cu)
    if [ ! -x "$built/$name" ]; then
        result='does not compile'
    else
        timeout $seconds "$built/$name" >"$built/$name.log" 2>&1
        status=$?
        [ $status -eq 124 ] && echo "still running after $seconds s" >>"$built/$name.log"
        result="exit status $status"
        [ $status -eq 0 ] && [ ! -s "$built/$name.log" ] && result=ok
    fi
    echo "$name: $result"
    if [ "$result" = ok ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        sed 's/^/    /' "$built/$name.log"
    fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
