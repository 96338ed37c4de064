# One step of a build, as the rules of engine.mk and of the Makefile call it. Compilers and flags are in
# build/*/settings, all else that was given in the environment: no value is part of a command, so none runs.
#
#     build.sh STEP OUT [IN...]      the steps are below
set -f # nor is one a pattern of files
. engine/say.sh
step=$1 out=$2 base=${2%.*} folder=${2%/*}
shift 2
case $folder in build/c/*) of=c ;; *) of="c cpu check cuda" ;; esac
for each in $of; do
    has_settings build/$each/settings && . build/$each/settings
done
case $KERNEL in -*) KERNEL=./$KERNEL ;; esac # or compilers would take it for an option
case $folder in
build/check) flags="$CHECKED_FLAGS" said=" (checked)" ;;
*) flags="$EMULATED_FLAGS" said= ;;
esac
dependencies="-MMD -MP -MF $base.d"
[ "$folder" = "$out" ] || [ -d "$folder" ] || mkdir -p "$folder"

linked() { # objects and options, and archives, which need each other, in a group
    objects= archives=
    for file; do
        case $file in *.a) archives="$archives $file" ;; *.[oS] | -*) objects="$objects $file" ;; esac
    done
    echo "$objects -Xlinker --start-group $archives -Xlinker --end-group"
}

link() { # objects, archives, options -> $out
    case $out in
    build/cuda/*) link_cuda "$@" ;;
    *) run $CXX $EMULATED_FLAGS $(linked "$@") -o "$out" -lm ;;
    esac
}

link_cuda() { # libraries lie beside nvcc; the driver's is the toolkit's stub where no driver is installed
    libraries=$(cd "$(dirname "$NVCC")/../lib64" 2>/dev/null && pwd)
    run "$NVCC" $CUDA_FLAGS $(linked "$@") -o "$out" -lpthread -Xlinker "-rpath=$libraries"
}

preprocess() { # file, more flags: $base.new and $base.marked; with "" behind these, $base.o
    sh engine/cuda/preprocess.sh --once engine/cuda/include . "${3-build/cpu/rewrite}" "$1" "$base" $CXX $flags \
        ${INCLUDE:+"-I$INCLUDE"} $2
}

compile() { # flags: $base.ii
    run $CXX "$@" -x c++-cpp-output -c "$base.ii" -o "$out"
}

guard() { # object, the same with -guarded: its calls of host functions pass through guards, an object beside it
    sh engine/watch/guard/host_calls.sh "$1" engine/watch/guard/host_call.S "$2" && run $CC -c "$2.S" -o "${2%ed}s.o"
}

embed() { # symbol, file: an object that holds the file's bytes
    run $CC "-DPROGRAM=$1" "-DFILE=\"$2\"" -c engine/embedded.S -o "$out"
}

carry() { # file: what a program carries along: the lab, if it is not the usual one; kernel.cu's name and its bytes
    [ -f "$KERNEL" ] || fail 2 "${KERNEL:-(no KERNEL)}: no such file; KERNEL=... names the .cu file to build"
    case $LAB in lab) lab= ;; *) lab=$LAB ;; esac
    { printf '%s\0%s\0' "$lab" "$KERNEL" && cat "$KERNEL"; } | replace "$1"
}

case $step in
keep) printf '%s\n' "$*" | replace "$out" ;;
backend)
    case $1 in cpu) said="CPU backend: $WHY" ;; *) said="CUDA backend: $WHY (ARCH=$ARCH)" ;; esac
    [ "$(cat "$out" 2>/dev/null)" = "$said" ] || { say "$said" && echo "$said" >"$out"; } # news only
    ;;
ready) # build/BACKEND/PROGRAM -> PROGRAM
    cp "$1" "$out"
    case $1 in build/cuda/*) said="a GPU ($ARCH)" ;; *) said="the CPU" ;; esac
    say "./$out is built from $KERNEL, for $said"
    ;;

c) # what compiles longer than it runs is not optimized
    case $1 in
    */kernel_begin.c | */kernel_end.c) level=-g0 ;; # the first debug information is to be kernel.cu's
    */detectors/unannounced.c) level=$FAST ;; # each access tells it, in an audit
    support.c | engine/* | */lessons.c) level=-O0 ;;
    *) level= ;;
    esac
    run $CC $C_FLAGS $level -I. $dependencies -c "$1" -o "$out"
    ;;
texts) # files as one text
    case $out in
    */cold.o) level=-O0 ;;
    # Its fast paths end in slow ones, and nobody looks up a caller there.
    */engine/fast.o) level="$FAST ${FAST:+-foptimize-sibling-calls}" ;;
    *) level=$FAST ;;
    esac
    printf '#include "%s"\n' "$@" >"$base.c"
    run $CC $C_FLAGS $level -D_GNU_SOURCE= -I. $dependencies -c "$base.c" -o "$out"
    ;;
archive) rm -f "$out" && run $AR rcs "$out" "$@" ;;
tool) run $CC $C_FLAGS $(linked "$@") -o "$out" -lm ;;
cu) # a file of this project
    case $folder in
    build/cuda | build/cuda/*) run "$NVCC" $CUDA_FLAGS -I. $dependencies -c "$1" -o "$out" && exit ;;
    esac
    case $1 in
    engine/* | grader/*) level="-O0 -g0 -DEMULATOR_HOST_API" ;; # it runs once around a kernel
    main.cu | "${LAB:-lab}"/*) level="-O0 -g0" ;;
    *) level= ;;
    esac
    if grep -qE '<<<|__(global|device|host|shared|constant|managed)__' "$1"; then
        preprocess "$1" "$dependencies -MT $out" && mv "$base.new" "$base.ii" && compile $flags $level
    else # it is C++ already
        preprocess "$1" "$dependencies $level" ""
    fi
    ;;

source) carry "$out" ;;
text) # C++ of kernel.cu, at every make: whatever it includes counts; and its source
    carry "$base.source"
    preprocess "$KERNEL" || exit 2
    cat "$base.new" "$base.marked" | cmp -s - "$out.both" ||
        { cat "$base.new" "$base.marked" >"$out.both" && mv "$base.new" "$out"; }
    ;;
spaces) # as it is compiled a second time, to see who calls whom
    sh engine/cuda/spaces/check_spaces.sh build/cpu/spaces "$base.marked" $CXX $EMULATED_FLAGS && : >"$out"
    ;;
kernel)
    if [ "$folder" != build/cpu ] && [ "$folder" != build/check ]; then
        say "NVCC $KERNEL"
        run "$NVCC" $CUDA_FLAGS -I . -x cu -c "$KERNEL" -o "$out"
    else
        say "CXX $KERNEL$said" && compile $flags
    fi
    ;;
carried) embed kernel_source "$1" ;;
guarded) guard "$1" "$base" ;;
nvcc_c) run "$NVCC" $(for flag in $C_FLAGS; do echo -Xcompiler "$flag"; done) $dependencies -c "$1" -o "$out" ;;
link) link "$@" ;;
link_cuda) link_cuda "$@" ;;
linked) # a program of kernel.cu's own main()
    ! command -v readelf >/dev/null || readelf -sW "$folder/kernel.o" | grep -q 'FUNC.* main$' ||
        fail 2 "$KERNEL: has no main(), so it is no program"
    link "$@"
    ;;
program) # -> build/program, or build/program-check, which is run
    cmp -s "$1" "$out" || cp "$1" "$out"
    case $ARGS in *[\`\$\;\&\|\<\>\#\(\)]* | *"
"*) fail 2 "ARGS=$ARGS: has a character that a shell acts on; this is not allowed" ;; esac
    case $out in *-check) eval "set -- $ARGS" && ENGINE_FIRST=$FIRST ENGINE_JSON=$JSON \
        ENGINE_TIMEOUT=$TIMEOUT exec "$out" "$@" ;; esac
    ;;
lab) # ... if kernel.cu defines what the lab calls
    sh engine/host/check_kernel.sh build/lab.sh "$folder/kernel.o" && link "$@"
    ;;

# Parts of make check; empty where they do not compile, for which another compilation says why.
locals) # the program once more, from a kernel.cu that says which local variables come into scope
    if build/check/insert engine/watch/locals/local.h <build/check/kernel.ii >"$out.ii" &&
        $CXX $flags -w -x c++-cpp-output -c "$out.ii" -o "$out.o" 2>/dev/null; then
        guard "$out.o" "${out}_guarded" && link "$@"
    else
        : >"$out"
    fi
    ;;
plain) # kernel.cu as the plain program has it; of what is debug information, lines alone are asked for
    flags="$EMULATED_FLAGS -g1"
    preprocess "$KERNEL" 2>/dev/null && mv "$base.new" "$base.ii" && compile $flags 2>/dev/null || : >"$out"
    ;;
quietly) link "$@" 2>/dev/null || : >"$out" ;;
embed) embed "$(basename "$base")" "$1" ;;
page) sh engine/show/page/page.sh build/check && embed walk_page_text build/check/walk.html ;;
response) # a host's objects stand between the two, so that kernel.cu's debug information is the first
    linked "$@" >/dev/null && echo "$objects" >"$out" &&
        echo "$(linked $archives) -lm -pthread" >"${out%.rsp}-libraries.rsp"
    ;;
esac
