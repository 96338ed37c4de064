# shellcheck shell=sh
# Has each call of a host function by kernel.cu pass through a guard, which lets the host's own
# calls through and stops a kernel that makes one: nvcc does not compile those, and what a library
# loads and stores the checker does not see. Device functions that load or store through a pointer
# become the checker's own.
#
#     host_calls.sh OBJECT host_call.S OUT
#
# Reads OBJECT (of the checked build) and writes OUT.o, the same with its calls renamed, and OUT.S,
# the guards, which are to be linked with it. Exit status 1: readelf or objcopy failed, with the
# reason on standard error. Without objcopy OUT.o is a copy, and OUT.S has no guards.
object=$1 macro=$2 out=$3

if ! command -v objcopy >/dev/null; then
    cp "$object" "$out.o" && cp "$macro" "$out.S"
    exit
fi

# What kernels may call: CUDA's device functions, and what compilers and the emulator's headers put
# there themselves; and what is no function.
device="acos|asin|atan|atan2|cbrt|ceil|copysign|cos|erf|erfc|exp|exp10|exp2|expm1|fabs|fdim|floor"
device="$device|fma|fmax|fmin|fmod|hypot|ilogb|j0|j1|ldexp|lgamma|llrint|llround|log|log10|log1p"
device="$device|log2|logb|lrint|lround|nan|nearbyint|nextafter|pow|remainder|rint|round|scalbn|sin"
device="$device|sinh|cosh|tanh|asinh|acosh|atanh|sqrt|tan|tgamma|trunc"
device="($device)f?l?|abs|labs|puts|putchar|malloc|_Zn[wa]\\w*|__assert_fail|abort"
compilers="emulator_\\w*|__tsan_\\w*|__ubsan_\\w*|__sanitizer_cov_\\w*|__\\w*_guard|__cxa_guard_\\w*"
compilers="$compilers|__stack_chk_fail|__g\\w\\w_personality_v0|__aarch64_\\w*|__\\w+[dstx][fi][234]?"
compilers="$compilers|__tls_get_addr|__x86_indirect_\\w*|__clang_call_terminate|_ZSt9terminatev"
data="threadIdx|blockIdx|blockDim|gridDim|stdin|stdout|stderr|_GLOBAL_OFFSET_TABLE_|__dso_handle"
data="$data|_ZT\\w*|_ZSt(3cin|4cout|4cerr|4clog|7nothrow)|_ZNSt\\w*(2id|4npos)E|DW\\.ref\\.\\w*"

readelf -sW "$object" >"$out.symbols" || exit
calls=$(awk '$5 == "GLOBAL" && $7 == "UND" && $8 { print $8 }' "$out.symbols" |
    grep -vxE "$device|$compilers|$data")
rm -f "$out.symbols"

# What loads and stores through pointers goes to the checker: access.c and host_call.c.
{
    for name in $calls; do
        case $name in
        memcpy | memmove | memset) echo "$name __tsan_$name" ;;
        sincos | sincosf | frexp | frexpf | modf | modff | remquo | remquof | printf | vprintf | clock)
            echo "$name checker_$name" ;;
        *) echo "$name guarded_$name" ;;
        esac
    done
} >"$out.names"
{
    cat "$macro"
    for name in $calls; do
        case $name in
        free | _Zd[al]Pv*) echo "frees $name" ;;
        *) echo "guard $name" ;;
        esac
    done
} >"$out.S"

# All its code in one place: linkers put what is hot, or begins a program, somewhere else, and
# extents.c knows kernel.cu's functions by where they are.
apart=$(readelf -SW "$object" | sed -nE \
    's/.* (\.text\.(hot|unlikely|startup|exit|unknown|split)[^ ]*) .*/--rename-section \1=.text.kernel/p')
# shellcheck disable=SC2086 # several words, or none
objcopy --redefine-syms="$out.names" $apart "$object" "$out.o"
