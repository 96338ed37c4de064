# From the submission's kernel.cu to the worker programs. Runs in the sandbox, in a directory that
# holds kernel.cu and nothing else; beside this file lie the parts that are linked to it, and
# `flags`, which the Makefile writes.
#
#     sh compile.sh objects     kernel.cu -> plain.o and checked.o, which define what they have to
#     sh compile.sh programs    both objects, and kernel.cu's text -> plain and checked; for a GPU,
#                               moreover, recorder and submission.fatbin, the kernels alone: what
#                               ../clock times
#     sh compile.sh check       checked.o and kernel.cu's text -> check: make check's own program; and
#                               locals, the one that knows the local variables, or an empty file
#
# Exit status: 0; 2 where it lacks one of the lab's functions, or has a main(); or 1 with the compiler's
# words on standard error.
parts=$(dirname "$0")
. "$parts/flags"
TMPDIR=$PWD # nvcc wants a place for its own files
HOME=/nonexistent CCACHE_DISABLE=1 # where c++ is ccache: it asks for a home, and has no cache here
export TMPDIR HOME CCACHE_DISABLE

compile() { # plain|checked, flags
    name=$1
    shift
    $CXX "$@" $FEW_ERRORS -x c++-cpp-output -c "$name.new" -o "$name.o"
}

# Status 4: it compiles, but nvcc would refuse it, for which the reasons are in spaces.errors.
plain_object() {
    preprocess plain $EMULATED_FLAGS || return
    sh "$parts/check_spaces.sh" "$parts/spaces" plain.marked $CXX $EMULATED_FLAGS 2>spaces.errors &
    compile plain $EMULATED_FLAGS || return
    wait $! || return 4
}

preprocess() { # plain|checked, flags
    name=$1
    shift
    sh "$parts/preprocess.sh" "$parts/engine/cuda/include" "$parts/include" "$parts/rewrite" \
        kernel.cu "$name" $CXX "$@"
}

object_for_gpu() {
    # The text that is looked at is the CPU's; what is special to nvcc shows in its object.
    preprocess plain $EMULATED_FLAGS &&
        "$NVCC" $CUDA_FLAGS -U_FORTIFY_SOURCE -Xcudafe --error_limit=3 -I "$parts/include" \
            -x cu -c kernel.cu -o plain.o
}

# Archives that need each other.
group="-Xlinker --start-group" end="-Xlinker --end-group"

program_for_gpu() {
    link_for_gpu plain $WORKER_CALLS "$parts/cuda/worker.o" "$parts/cuda/watch_cuda.o" &&
        link_for_gpu recorder $RECORDER_CALLS "$parts/cuda/record.o" "$parts/cuda/libclock.a" &&
        objcopy -O binary --only-section=.nv_fatbin plain.o submission.fatbin
}

link_for_gpu() { # name, options and objects
    name=$1
    shift
    "$NVCC" $CUDA_FLAGS plain.o "$@" "$parts/cuda/host.o" "$parts/cuda/call.o" \
        $group "$parts/liblab.a" "$parts/libhost.a" "$parts/libreport.a" $end -o "$name" -lpthread
}

program() { # plain|checked, the submission's object, more objects
    name=$1 object=$2
    shift 2
    link_around "$object" "$parts/worker.o" "$parts/watch_$name.o" "$@" -o "$name"
}

link_around() { # the submission's object, more objects and options, perhaps libengine.a
    object=$1
    shift
    $CXX -pthread "$parts/kernel_begin.o" "$object" "$parts/kernel_end.o" $group "$@" "$parts/host.o" "$parts/call.o" \
        "$parts/liblab.a" "$parts/libhost.a" "$parts/libreport.a" "$parts/libruntime.a" $end -lm
}

# Names of C that the submission defines, of helpers with extern "C" and of variables, are its own:
# they take the place of nobody's function, and stand in nobody's way.
names_apart() { # objects
    for object; do
        readelf -sW "$object" | awk '$5 != "LOCAL" && $7 != "UND" && $8 !~ /^_Z/ &&
                                     $8 ~ /^[A-Za-z_][A-Za-z0-9_]*$/ { print $8 }' >own.names &&
            objcopy --localize-symbols=own.names "$object" || return
    done
}

# The submission's constructors run in the host's process: host_process.c.
constructors_apart() {
    objcopy $(readelf -SW guarded.o |
        sed -n 's/.* \(\.init_array[.0-9]*\) .*/--rename-section \1=kernel_init/p') guarded.o
}

# Carries the text along: where a barrier is missing follows from it.
checked_objects() {
    sh "$parts/host_calls.sh" checked.o "$parts/host_call.S" guarded &&
        $CXX -c guarded.S -o guards.o &&
        { printf '\0kernel.cu\0' && cat kernel.cu; } >kernel.source &&
        $CXX -DPROGRAM=kernel_source -DFILE='"kernel.source"' -c "$parts/embedded.S" -o source.o
}

checked_program() {
    checked_objects && constructors_apart &&
        program checked guarded.o guards.o source.o "$parts/host_process.o" "$parts/device_calls.o" \
            "$parts/libengine.a"
}

check_program() {
    checked_objects && link_check check guarded.o guards.o || return
    locals_program 2>/dev/null || : >locals # empty: nothing is said about local variables
}

# make check's, from a kernel.cu that says which local variables come into scope.
locals_program() {
    preprocess locals $CHECKED_FLAGS &&
        "$parts/insert" "$parts/local.h" <locals.new >locals.ii &&
        $CXX $CHECKED_FLAGS -w -x c++-cpp-output -c locals.ii -o locals.o &&
        sh "$parts/host_calls.sh" locals.o "$parts/host_call.S" locals_guarded &&
        $CXX -c locals_guarded.S -o locals_guards.o &&
        link_check locals locals_guarded.o locals_guards.o
}

link_check() { # name, the submission's object, its guards
    name=$1
    shift
    link_around "$@" source.o "$parts/walk_page.o" "$parts/libcheck.a" \
        "$parts/libengine.a" -o "$name"
}

# The two builds side by side. When both fail it is for the same reason, which is printed once.
case $1 in
objects)
    if [ "$NVCC" ]; then object_for_gpu; else plain_object; fi 2>plain.errors &
    first=$!
    { preprocess checked $CHECKED_FLAGS && compile checked $CHECKED_FLAGS; } 2>checked.errors
    second=$?
    ;;
programs)
    names_apart plain.o checked.o || exit 1
    if [ "$NVCC" ]; then program_for_gpu; else program plain plain.o; fi 2>plain.errors &
    first=$!
    checked_program 2>checked.errors
    second=$?
    ;;
check)
    names_apart checked.o && check_program
    exit
    ;;
*)
    echo "compile.sh: objects, programs or check" >&2
    exit 1
    ;;
esac

wait "$first"
case $? in
0) ;;
4) cat spaces.errors >&2 && exit 1 ;;
*) cat plain.errors >&2 && exit 1 ;;
esac
if [ "$second" -ne 0 ]; then
    cat checked.errors >&2
    exit 1
fi
[ "$1" = programs ] || KERNEL=kernel.cu sh "$parts/check_kernel.sh" "$parts/lab.sh" plain.o || exit 2
cat plain.errors >&2 # warnings
