# One step of a build, as the rules of engine.mk and of the Makefile call it. Compilers and flags are in
# build/*/settings, all else that was given in the environment: no value is part of a command, so none runs.
#
#     build.sh STEP OUT [IN...]      the steps are below
set -f # nor is one a pattern of files
engine=engine tools=build/cpu support=. once=1
. engine/kernel.sh
step=$1 out=$2 base=${2%.*} folder=${2%/*}
shift 2
for each in c cpu check cuda; do
    has_settings build/$each/settings && . build/$each/settings
done
case $KERNEL in -*) KERNEL=./$KERNEL ;; esac # or compilers would take it for an option
case $folder in
build/check) flags="$CHECKED_FLAGS" ;;
*) flags="$EMULATED_FLAGS" ;;
esac
dependencies="-MMD -MP -MF $base.d"
[ "$folder" = "$out" ] || [ -d "$folder" ] || mkdir -p "$folder"

to_cpp() { # file, BASE or OBJECT.o, flags
    preprocess "$@" ${INCLUDE:+"-I$INCLUDE"}
}

build() { # objects, archives, options -> $out
    case $out in
    build/cuda/*) link_cuda "$out" "$@" ;;
    *) link "$out" "$@" ;;
    esac
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
    support.c | engine/* | */lessons.c) level=-O0 ;;
    *) level=$FAST ;;
    esac
    run $CC $C_FLAGS $level -I. $dependencies -c "$1" -o "$out"
    ;;
texts) # files as one text
    case $out in
    */cold.o) level=-O0 ;;
    */warm.o) level=$WARM ;;
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
    main.cu | engine/* | grader/*) level="-O0 -g0 -DEMULATOR_HOST_API" ;; # it runs once around a kernel
    "${LAB:-lab}"/*) level="-O0 -g0" ;; # and may use whatever nvcc declares without an #include
    *) level= ;;
    esac
    if grep -qE '<<<[^.]|__(global|device|host|shared|constant|managed)__' "$1"; then
        to_cpp "$1" "$base" $flags $dependencies -MT "$out" && mv "$base.new" "$base.ii" &&
            compile "$base.ii" "$out" $flags $level
    else # it is C++ already
        to_cpp "$1" "$out" $flags $dependencies $level
    fi
    ;;

source) carry "$out" ;;
prelude)
    rm -f "$out.gch" "$out.marked.gch"
    to_cpp /dev/null "$out" $flags $dependencies -MT "$out" && mv "$out.new" "$out"
    ;;
text) # C++ of kernel.cu, at every make: whatever it includes counts; and its source
    carry "$base.source"
    macros_only=1 to_cpp "$KERNEL" "$base" $flags || exit 2
    cat "$base.new" "$base.marked" | cmp -s - "$out.both" ||
        { cat "$base.new" "$base.marked" >"$out.both" && mv "$base.new" "$out"; }
    ;;
spaces) # as it is compiled a second time, to see who calls whom
    (check_spaces "$folder/prelude.marked" "$base.marked" "$base.marked.o") 2>"$base.refused" && : >"$out" && exit
    # Does it compile as it is? If not, why is for the compiler of the program to say.
    [ $? = 3 ] && ! compile_behind "$folder/prelude" "$base.ii" "$base.syntax.o" $flags -w -fsyntax-only 2>/dev/null &&
        exit
    cat "$base.refused" >&2
    exit 1
    ;;
kernel)
    case $folder in
    build/cpu) say "CXX $KERNEL" && compile_behind "$folder/prelude" "$1" "$out" $flags ;;
    build/check) # what there was to warn of has been said
        [ ! build/cpu/kernel.o -nt "$1" ] || flags="$flags -w"
        say "CXX $KERNEL (checked)" && compile_behind "$folder/prelude" "$1" "$out" $flags
        ;;
    *) say "NVCC $KERNEL" && run "$NVCC" $CUDA_FLAGS -I . -x cu -c "$KERNEL" -o "$out" ;;
    esac
    ;;
carried) embed kernel_source "$1" "$out" ;;
guarded) guard "$1" "$base" ;;
nvcc_c) run "$NVCC" $(for flag in $C_FLAGS; do echo -Xcompiler "$flag"; done) $dependencies -c "$1" -o "$out" ;;
link) build "$@" ;;
link_cuda) link_cuda "$out" "$@" ;;
linked) # a program of kernel.cu's own main()
    ! command -v readelf >/dev/null || readelf -sW "$folder/kernel.o" | grep -q 'FUNC.* main$' ||
        fail 2 "$KERNEL: has no main(), so it is no program"
    build "$@"
    ;;
program) # -> build/program, or build/program-check, which is run
    cmp -s "$1" "$out" || cp "$1" "$out"
    case $ARGS in *[\`\$\;\&\|\<\>\#\(\)]* | *"
"*) fail 2 "ARGS=$ARGS: has a character that a shell acts on; this is not allowed" ;; esac
    case $out in *-check) eval "set -- $ARGS" && ENGINE_FIRST=$FIRST ENGINE_JSON=$JSON \
        ENGINE_TIMEOUT=$TIMEOUT exec "$out" "$@" ;; esac
    ;;
lab) check_kernel build/lab.sh "$folder/kernel.o" && build "$@" ;;

# Programs that make check makes when it runs them. Where one does not compile or link, the file is empty, and another
# build says why.
locals) # the program once more, from a kernel.cu that says which local variables come into scope
    locals_object build/check/insert build/check/prelude build/cpu/kernel.ii "$out" || { : >"$out" && exit; }
    build "$@"
    ;;
writers) build "$@" 2>/dev/null || : >"$out" ;;
embed) embed "$(basename "$base")" "$1" "$out" ;;
page) sh engine/show/page/page.sh build/check && embed walk_page_text build/check/walk.html "$out" ;;
response) # a host's objects stand between the two, so that kernel.cu's debug information is the first
    linked "$@" >/dev/null && echo "$objects" >"$out" &&
        echo "$(linked $archives) -lm -pthread" >"${out%.rsp}-libraries.rsp"
    ;;
esac
