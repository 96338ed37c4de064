# Can this machine build for the chosen backend? Silent if so; else one line that says what is
# missing, and exit status 2 (the choice was wrong) or 3 (the machine lacks something).
#
#     check_tools.sh c|cpu|check|cuda CC CXX AR NVCC ARCH

backend=$1 cc=$2 cxx=$3 ar=$4 nvcc=$5 arch=$6
oldest_gcc=11 oldest_clang=14

fail() { # status message
    echo "$2" >&2
    exit "$1"
}

# "gcc 12" or "clang 14"; nothing if it is neither or does not run. Asked of the preprocessor,
# because what --version prints differs from one distribution to the next.
compiler_version() { # compiler language
    macros=$(printf '__clang_major__ __GNUC__\n' | $1 -E -P -x "$2" - 2>/dev/null)
    case $macros in
    __clang_major__\ [0-9]*) echo "gcc ${macros#* }" ;;
    [0-9]*) echo "clang ${macros% *}" ;;
    esac
}

check_compiler() { # compiler language variable
    set -- "$1" "$2" "$3" $(compiler_version "$1" "$2")
    case $4 in
    gcc) oldest=$oldest_gcc ;;
    clang) oldest=$oldest_clang ;;
    *) fail 3 "$3=$1 is no C/C++ compiler that works here; install gcc $oldest_gcc or clang $oldest_clang, or newer" ;;
    esac
    [ "$5" -ge "$oldest" ] ||
        fail 3 "$3=$1 is $4 $5, which is too old: gcc $oldest_gcc or clang $oldest_clang, or newer, is needed (make $3=...)"
}

# Before the compilers: gcc cannot do without the rest of binutils, and says so in its own words.
command -v "$ar" >/dev/null ||
    fail 3 "$ar is not installed, nor are, it seems, as and ld: install binutils"
check_compiler "$cc" c CC
case $backend in
c) ;;
cpu | check) check_compiler "$cxx" c++ CXX ;;
cuda)
    [ -n "$nvcc" ] || fail 2 "BACKEND=cuda needs nvcc, which is not on the PATH; BACKEND=cpu needs only a compiler"
    case $arch in
    native) sh make/gpu_arch.sh >/dev/null || exit ;;
    sm_[1-9]*) ;;
    *) fail 2 "ARCH=$arch is no GPU's architecture: it is native, or sm_ and a number (sm_90)" ;;
    esac
    ;;
*) fail 2 "BACKEND is auto, cuda or cpu" ;;
esac
