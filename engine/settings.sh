# Looks at the compilers and writes what they are called with, which builds again what depends on it. Each of these
# variables may be given. Exit status: 2 what was given cannot be used; 3 the machine lacks something.
#
#     settings.sh build/c/settings OLD...   C: CC, AR, C_FLAGS; first it removes these files, which this make builds
#                                           anew: none is left from before if it fails
#     settings.sh build/cpu/settings        C++ that was CUDA: CXX, EMULATED_FLAGS
#     settings.sh build/check/settings      the same under watch: CHECKED_FLAGS
#     settings.sh build/cuda/settings       nvcc: NVCC, ARCH, CUDA_FLAGS
set -f
. engine/say.sh
out=$1 AR=${AR-ar} CC=${CC-cc} CXX=${CXX-c++}

# What was given, in the order of the list above; of ARCH, the GPU that it means.
case $out in
*/c/*)
    shift
    [ -w . ] || fail 2 'this folder cannot be written: copy it (cp -r), and run make in the copy'
    [ ! -e build ] || [ -w build ] || fail 2 'build/ cannot be written: remove it as the user it belongs to'
    [ $# = 0 ] || rm -f "$@"
    asked="$CC, $AR, ${C_FLAGS-usual}"
    ;;
*/cpu/*) asked="$CXX, ${EMULATED_FLAGS-usual}, $INCLUDE, $CPATH, $CPLUS_INCLUDE_PATH" ;; # where headers are
*/check/*) asked="$(. build/cpu/settings && echo "$ASKED"), ${CHECKED_FLAGS-usual}, $CHECKED_O" ;;
*/cuda/*)
    find_nvcc
    [ "$NVCC" ] || fail 2 "BACKEND=cuda needs nvcc, which is not on the PATH; BACKEND=cpu needs only a compiler"
    case ${ARCH-native} in
    native) ARCH=${GPU:-$(sh engine/gpu_arch.sh)} || exit ;;
    sm_[1-9]*) ;;
    *) fail 2 "ARCH=$ARCH is not a GPU architecture: use native, or sm_ and a number (sm_90)" ;;
    esac
    asked="$NVCC, $ARCH, ${CUDA_FLAGS-usual}, ${C_FLAGS-usual}"
    ;;
esac
# The same as last time; and what is usual has not changed since.
[ "$out" -nt engine/settings.sh ] && has_settings "$out" && (. "$out" && [ "$ASKED" = "$asked" ]) && exit
[ -d "${out%/*}" ] || mkdir -p "${out%/*}"

# Sets `family`, gcc or clang. The preprocessor is asked, because what --version prints differs from one distribution to
# the next.
check() { # variable, compiler, language
    set -- "$1" "$2" $(printf '__clang_major__ __GNUC__\n' | $2 -E -P -x "$3" - 2>/dev/null)
    case "$3 $4" in
    __clang_major__\ [0-9]*) family=gcc oldest=11 version=$4 ;;
    [0-9]*) family=clang oldest=14 version=$3 ;;
    *) fail 3 "$1=$2 is not a working C/C++ compiler; install gcc 11 or clang 14, or newer" ;;
    esac
    [ "$version" -ge $oldest ] ||
        fail 3 "$1=$2 is $family $version, which is too old: gcc 11 or clang 14, or newer, is needed (make $1=...)"
}

case $out in
*/c/*) # binutils first: gcc cannot do without the rest of them, and says so in its own words
    command -v "$AR" >/dev/null || fail 3 "$AR is not installed (as and ld are probably missing, too): install binutils"
    check CC "$CC" c
    case $family in # those parts of -O2 that make runs faster; all of it takes half as long again to compile
    gcc)
        fast="-O1 -finline-small-functions -fstrict-aliasing -ftree-vrp -freorder-blocks -fexpensive-optimizations"
        fast="$fast -fcode-hoisting -ftree-pre -falign-functions=32 -falign-loops -falign-jumps -falign-labels"
        warm=-Og
        ;;
    clang) fast=-O2 warm=-O1 ;;
    esac
    [ ! "${C_FLAGS+given}" ] || fast= warm=
    # A store to where a function returns to is found by frame pointers; and a call that fails is to be still on the
    # stack when the runtime looks up its caller.
    flags="${C_FLAGS--std=c11 -O2 -pipe -Wall -Wextra -Wno-missing-field-initializers -pthread}"
    flags="$flags -fno-omit-frame-pointer -fno-optimize-sibling-calls"
    setting CC "$CC" AR "$AR" FAST "$fast" WARM "$warm" C_FLAGS "$flags"
    ;;
*/cpu/*)
    check CXX "$CXX" c++
    case $family in
    gcc) # -O3 takes twice as long to compile a large kernel; all that it gains is short loops unrolled. Two calls that
        # look alike stay two: a launch is named by its line.
        flags="-O2 -fpeel-loops -fno-tree-tail-merge -fno-crossjumping" few=-fmax-errors=3
        precompile="-fpreprocessed -x c++-header"
        ;;
    clang) flags=-O3 few=-ferror-limit=3 precompile= ;;
    esac
    # Local variables without a value begin with a pattern, where the compiler can do that (gcc 12): so both builds
    # compute the same with it, and no zero happens to be there. With stack-clash protection a local array that is too
    # large for a thread's stack meets the guard. Ubuntu's compilers protect the stack by default: a function that has
    # stored beyond a local array would end the program before that is said.
    filled=-ftrivial-auto-var-init=pattern
    $CXX $filled -E -x c++ /dev/null >/dev/null 2>&1 || filled=
    # A function that ends without a return statement says so, instead of running on into what lies behind it.
    # No strict aliasing: kernels read float arrays through float4 pointers. No warning for comparing signed with
    # unsigned, narrowing in dim3{...}, a pragma of nvcc's, float sums[4][4] = {0} or register (which clang refuses):
    # that is everybody's style.
    flags="-std=c++17 $flags -g -pipe -pthread -fno-strict-aliasing -fstack-clash-protection $filled -fsanitize=return"
    flags="$flags -fno-stack-protector -Wall -Wno-sign-compare -Wno-unknown-pragmas -Wno-narrowing -Wno-unused-variable"
    flags="$flags -Wno-missing-braces -Wno-register"
    setting CXX "$CXX" FEW_ERRORS $few PRECOMPILE "$precompile" EMULATED_FLAGS "${EMULATED_FLAGS-$flags}"
    ;;
*/check/*)
    # -O1: at -O0 local variables would be watched too. Not vectorized: 16 bytes at once are to be the kernel's own
    # float4. Both compilers are to say which accesses are volatile. Neither announces what it knows to be a local
    # array, however far an index leads, unless its address goes somewhere: to a check of the object's size, or to a
    # second announcement. Indirect calls go through host_call.S. DWARF 4: in DWARF 5, addr2line (binutils 2.40) takes
    # an included file for the one that includes it.
    check CXX "$CXX" c++
    flags=
    for flag in $(. build/cpu/settings && echo "$EMULATED_FLAGS"); do
        case $flag in -O* | -fpeel-loops) ;; *) flags="$flags $flag" ;; esac
    done
    flags="$flags ${CHECKED_O--O1} -fno-omit-frame-pointer -gdwarf-4 -fno-tree-vectorize -fno-tree-slp-vectorize"
    flags="$flags -fsanitize=thread,bounds"
    case $family in
    gcc) # It expands a memcpy of known length without a word to the checker, and makes memcpy of others; as calls they
        # are seen (cuda_runtime.h). Nor does it announce what a call returns straight into memory, which it does where
        # it need not copy it. Sinking makes one store, at one line, of those of an if and its else.
        flags="$flags -fno-tree-sink -fsanitize=object-size -fno-elide-constructors -Wno-tsan"
        flags="$flags --param tsan-distinguish-volatile=1"
        for f in memcpy memmove memset mempcpy bcopy bzero strcpy strncpy strcat strncat stpcpy stpncpy \
            sprintf snprintf vsprintf vsnprintf; do
            flags="$flags -fno-builtin-$f -fno-builtin-__${f}_chk"
        done
        x86="-mindirect-branch=thunk-extern -mindirect-branch-register"
        ;;
    clang) # It needs options to report the read of C[i] += x, and to keep to array bounds; and it announces no long
        # double of 10 bytes. Four options, which another version may lack, keep loads and stores of an if and its else
        # at their lines.
        flags="$flags -fno-sanitize=local-bounds -fsanitize-coverage=func,trace-pc,trace-loads,trace-stores"
        for option in instrument-read-before-write=1 distinguish-volatile=1 instrument-func-entry-exit=0; do
            flags="$flags -mllvm -tsan-$option"
        done
        for option in simplifycfg-sink-common simplifycfg-hoist-common simplifycfg-merge-cond-stores \
            enable-tail-merge; do
            $CXX -mllvm -$option=false -E -x c++ /dev/null >/dev/null 2>&1 && flags="$flags -mllvm -$option=false"
        done
        x86="-mretpoline -mretpoline-external-thunk -mlong-double-64"
        ;;
    esac
    case $($CXX -dumpmachine) in *x86_64*) flags="$flags $x86" ;; esac
    setting CHECKED_FLAGS "${CHECKED_FLAGS-$flags}"
    ;;
*/cuda/*) # Machine code for one GPU and no PTX, which the driver would translate at each start.
    setting NVCC "$NVCC" ARCH "$ARCH" CUDA_FLAGS "${CUDA_FLAGS--O3 -arch=compute_${ARCH#sm_} -code=$ARCH -lineinfo}"
    ;;
esac >"$out.new" || exit
setting ASKED "$asked" >>"$out.new" && mv "$out.new" "$out"
