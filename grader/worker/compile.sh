# From the submission's kernel.cu to the worker's programs. Runs in the sandbox, in a folder that holds kernel.cu and
# nothing else; beside this file lie the parts that are linked with it. Exit status: 0; 2 where it lacks one of the
# lab's functions, or has a main(); or 1 with the compiler's words on standard error.
#
#     sh compile.sh objects NAME    kernel.cu -> plain.o and checked.o; and kernel.i and kernel.device.i, in which
#                               kernel.cu is NAME.cu
#     sh compile.sh programs    both, and kernel.cu's text -> plain and checked; for a GPU, moreover, recorder and
#                               submission.fatbin, the kernels alone: what ../clock times
#     sh compile.sh check       checked.o and kernel.cu's text -> check: make check's own program; and locals, the one
#                               that knows the local variables, or an empty file
set -f
tools=$(cd "${0%/*}" && pwd)
ln -sfn "$tools" .parts || exit # a path without blanks, for commands that are lists of words
engine=$tools/engine support=$tools/include once= KERNEL=kernel.cu
. "$engine/kernel.sh"
. "$tools/flags"
CC=$CXX
export TMPDIR="$PWD" # nvcc wants a place for its own files
export HOME=/nonexistent CCACHE_DISABLE=1 # where c++ is ccache: it asks for a home, and has no cache here

plain_object() {
    if [ "$NVCC" ]; then # what was looked at is the CPU's text; what is special to nvcc shows in its object
        "$NVCC" $CUDA_FLAGS -U_FORTIFY_SOURCE -Xcudafe --error_limit=3 -I "$support" -x cu -c $KERNEL -o plain.o
        return
    fi
    check_spaces .parts/build/cpu/prelude.marked kernel.marked kernel.marked.o 2>spaces.errors &
    compile_behind .parts/build/cpu/prelude kernel.new plain.o $EMULATED_FLAGS $FEW_ERRORS || return
    wait $! || { mv spaces.errors plain.errors && false; } # it compiles, but nvcc would refuse it
}

checked_object() {
    compile_behind .parts/build/check/prelude kernel.new checked.o $CHECKED_FLAGS $FEW_ERRORS
}

plain_program() {
    if [ "$NVCC" ]; then
        link_cuda plain plain.o $WORKER_CALLS $(parts cuda/worker.o cuda/watch_cuda.o $for_cuda) &&
            link_cuda recorder plain.o $RECORDER_CALLS $(parts cuda/record.o cuda/libclock.a $for_cuda) &&
            objcopy -O binary --only-section=.nv_fatbin plain.o submission.fatbin
    else
        link_around plain.o plain $(parts worker.o watch_plain.o)
    fi
}

checked_program() { # whose constructors run in the host's process: host_process.c
    checked_objects && objcopy $(readelf -SW guarded.o |
        sed -n 's/.* \(\.init_array[.0-9]*\) .*/--rename-section \1=kernel_init/p') guarded.o &&
        link_around guarded.o checked guards.o source.o \
            $(parts worker.o watch_checked.o host_process.o device_calls.o libengine.a)
}

check_program() {
    checked_objects && link_around guarded.o check guards.o $around_check || return
    { macros_only=1 preprocess $KERNEL kernel $EMULATED_FLAGS &&
        locals_object "$tools/insert" .parts/build/check/prelude kernel.new locals &&
        link_around locals_guarded.o locals locals_guards.o $around_check; } 2>/dev/null ||
        : >locals # empty: nothing is said about local variables
}

parts() { # names: their paths
    printf ".parts/%s " "$@"
}
for_cuda="cuda/host.o cuda/call.o liblab.a libhost.a libreport.a"
around_check="source.o $(parts walk_page.o libcheck.a libengine.a)"

link_around() { # the submission's object, program, more objects and archives
    object=$1 name=$2
    shift 2
    link "$name" $(parts kernel_begin.o) "$object" $(parts kernel_end.o) "$@" \
        $(parts host.o call.o liblab.a libhost.a libreport.a libruntime.a)
}

checked_objects() { # with the text: where a barrier is missing follows from it
    guard checked.o guarded && carry kernel.source && embed kernel_source kernel.source source.o
}

# Names of C that the submission defines, of helpers with extern "C" and of variables, are its own: they take the place
# of nobody's function, and stand in nobody's way.
names_apart() { # objects
    for object; do
        objcopy --wildcard --localize-symbol='!_Z*' --localize-symbol='!*[!A-Za-z0-9_]*' \
            --localize-symbol='[A-Za-z_]*' "$object" || return
    done
}

# The two builds side by side. When both fail it is for the same reason, which is printed once.
both() { # object|program
    plain_$1 2>plain.errors &
    first=$!
    checked_$1 2>checked.errors
    second=$?
    wait $first || { cat plain.errors >&2; exit 1; }
    [ $second = 0 ] || { cat checked.errors >&2; exit 1; }
}

case $1 in
objects)
    macros_only=1 preprocess_as "$2" $KERNEL kernel $EMULATED_FLAGS || exit 1
    both object && check_kernel "$tools/lab.sh" plain.o || exit 2
    ;;
programs) names_apart plain.o checked.o && both program || exit 1 ;;
check)
    names_apart checked.o && check_program
    exit
    ;;
esac
cat plain.errors >&2 # warnings
