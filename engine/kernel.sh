# From a kernel.cu to objects and a program: what build.sh and grader/worker/compile.sh have in common. They set
# $engine, this folder; $tools, that of rewrite and spaces; $support, that of support.h; and read build/*/settings.
. "$engine/say.sh"

# From a .cu file to C++: BASE.i, and BASE.device.i, the text with __CUDA_ARCH__; of both, by cuda/rewrite.c, BASE.new,
# and BASE.marked for check_spaces. Status 1: it cannot be compiled for the CPU; why is on standard error.
# once=1: one run of the preprocessor serves for both texts where no file has __CUDA_ARCH__ in it. A file can put this
# macro together from parts, so no grade may depend on that.
# macros_only=1: of cuda_runtime.h it has the macros alone, and is to be compiled behind a prelude.
# To an OBJECT.o, where none of CUDA's words is in the file: it is compiled as it is.
preprocess() ( # file, BASE or OBJECT.o, flags
    file=$1 out=$2 include=$(cd "$engine/cuda/include" && pwd) empty=${2%.o}.empty
    includes=${macros_only:+-imacros} includes=${includes:--include}
    shift 2
    export LC_ALL=C # in which the messages below are read
    # CUDA's own headers are to come behind ours: those of an -I, and those of CPATH.
    set -- $CXX "$@"
    for word; do
        shift
        case $word in -I?*) [ ! -e "${word#-I}/cuda_runtime.h" ] || word=-idirafter${word#-I} ;; esac
        set -- "$@" "$word"
    done
    if [ "$CPATH" ]; then
        export CPLUS_INCLUDE_PATH="${CPLUS_INCLUDE_PATH:+$CPLUS_INCLUDE_PATH:}$CPATH"
        unset CPATH
    fi
    # Those of CUDA's headers that hold nothing here: what they declare, cuda_runtime.h does, or nothing.
    mkdir -p "$empty/cuda"
    for name in $(cat "$include/empty.txt"); do : >"$empty/$name"; done

    # Some distributions' gcc fortifies by default: it then calls functions of other names, __strncpy_chk.
    compiler() {
        "$@" -U_FORTIFY_SOURCE -isystem "$include" -isystem "$empty" -isystem "$support" \
            $includes cuda_runtime.h -x c++ "$file"
    }
    # 900 is the compute capability that cuda/runtime/device.c reports.
    for_device() { compiler "$@" -E -D__CUDA_ARCH__=900 >"$out.device.i" 2>"$out.device.i.errors"; }
    asks_for_arch() { # $out.i, or a file that it is made of
        files=$(sed -n 's/^# [0-9]* "\([^<].*\)" [13].*/\1/p' "$out.i" | sort -u)
        case $files in *\\*) return ;; esac # in a name, which is not the file's own then
        IFS='
'
        grep -qs __CUDA_ARCH__ -- "$file" $files
        asked=$?
        unset IFS
        [ $asked = 0 ]
    }

    case $out in
    *.o)
        compiler "$@" -D__global__= -D__device__= -D__host__= -D__constant__= -c -o "$out"
        exit
        ;;
    esac
    [ "$once" ] || for_device "$@" &
    compiler "$@" -E >"$out.i" 2>"$out.i.errors"
    host=$?
    if [ ! "$once" ]; then
        wait $!
    elif asks_for_arch; then
        for_device "$@"
    else
        cp "$out.i" "$out.device.i"
    fi
    device=$?
    if [ $host = 0 ] && [ $device = 0 ]; then
        "$tools/rewrite" "$out.device.i" "$out.marked" <"$out.i" >"$out.new" && cat "$out.i.errors" >&2 # warnings
        exit
    fi
    [ $host != 0 ] || mv "$out.device.i.errors" "$out.i.errors"
    # Of one of CUDA's headers it is said in one line that it is not for the CPU, be it that it does not compile or
    # that it is not there, which is shown to the rewriter as if it were there.
    sed -n "s/^\(.*\):\([0-9]*\):[0-9]*: fatal error: '*\([^':]*\).*/# \2 \"\1\"\n# 1 \"\3\" 1/p" \
        "$out.i.errors" >>"$out.i"
    "$tools/rewrite" --headers <"$out.i" && cat "$out.i.errors" >&2
    exit 1
)

# For a file that may lie about where its text comes from. In BASE.i and BASE.device.i the file has a name that its
# author could not know, and its last word is that name. A directive that claims that the rest is a header's cannot
# return to the file, and so the last word seems to be the header's (grader/gate/text.py).
preprocess_as() { # name, file, BASE, flags
    own=$1 given=$2 base=$3
    shift 3
    { cat "$given" && printf '\n\n%s\n' "$own"; } >"$own.cu" || return
    preprocess "$own.cu" "$base" "$@" -U__BASE_FILE__ -Wno-builtin-macro-redefined 2>"$own.errors"
    status=$?
    sed "s/$own\.cu/$given/g" "$own.errors" >&2
    [ $status = 0 ] && sed -i "s/$own\.cu/$given/g; s/^$own\$//" "$base.new" "$base.marked"
}

compile() { # C++ that was CUDA, object, flags
    text=$1 object=$2
    shift 2
    run $CXX "$@" -x c++-cpp-output -c "$text" -o "$object"
}

# A prelude is what cuda_runtime.h declares, preprocessed with a build's own flags. So the text of a kernel.cu, which
# has only its macros, is the same in all builds. The first line of a text names the file that is compiled.
#
# The prelude takes most of the time. Where gcc compiles for the second time, it first keeps what it makes of it, and
# reads that instead. If it cannot, the prelude itself is compiled, and what is said then is shown.
compile_behind() { # prelude, C++ that was CUDA, object, flags
    prelude=$1 behind=$2 kept=$1.gch whole=${3%.o}.whole.ii
    [ -e "$kept" ] || [ ! -e "$3" ] || [ ! "$PRECOMPILE" ] || keep_prelude "$@"
    shift 2
    if [ -e "$kept" ]; then
        { head -n 1 "$behind" && echo "#pragma GCC pch_preprocess \"$kept\"" && cat "$behind"; } >"$whole" &&
            compile "$whole" "$@" 2>"$whole.said" && cat "$whole.said" >&2 && return
    fi
    { head -n 1 "$behind" && cat "$prelude" "$behind"; } >"$whole" && compile "$whole" "$@"
}

keep_prelude() ( # as compile_behind
    shift 3
    run $CXX "$@" $PRECOMPILE "$prelude" -o "$kept.new" 2>/dev/null && mv "$kept.new" "$kept"
)

# CUDA's device functions that are in the C library.
math="acos|asin|atan|atan2|cbrt|ceil|copysign|cos|erf|erfc|exp|exp10|exp2|expm1|fabs|fdim|floor|fma|fmax|fmin|fmod"
math="$math|hypot|ilogb|j0|j1|ldexp|lgamma|llrint|llround|log|log10|log1p|log2|logb|lrint|lround|nan|nearbyint"
math="$math|nextafter|pow|remainder|rint|round|scalbn|sin|sinh|cosh|tanh|asinh|acosh|atanh|sqrt|tan|tgamma|trunc"

# Refuses what nvcc refuses, calls and data of the wrong side (cuda/spaces.c says which): status 1. Nothing is
# inlined, and each function and variable has a section, so that each call and use of data has a relocation. Some
# compilers protect the stack by default, by a call of the C library; gcc would make puts of a printf, and nothing of a
# memmove. An array whose length is no constant calls gcc's sanitizer; clang's is called for some that nvcc takes, too.
# What does not compile here has status 3, and the compiler's messages. Those of what does not compile at all are the
# compiler's of the program, too.
check_spaces() { # prelude and text, each marked by preprocess; object
    unfolded= # gcc computes what these are of constants; nvcc does so of ceil alone
    IFS='|'
    for name in $math; do
        unfolded="$unfolded -fno-builtin-${name}f"
        [ $name = ceil ] || unfolded="$unfolded -fno-builtin-$name"
    done
    unset IFS
    compile_behind "$@" $EMULATED_FLAGS $FEW_ERRORS -fno-sanitize=all ${PRECOMPILE:+-fsanitize=vla-bound} -O0 -w \
        -gdwarf-4 -fno-inline -ffunction-sections -fdata-sections -fno-stack-protector -fno-builtin-printf \
        -fno-builtin-memmove $unfolded ||
        fail 3 "$KERNEL does not compile without optimization and inlining, so its calls cannot be checked"
    "$tools/spaces" "$3"
}

# Does the object define what the lab calls, and no main() of its own? Silent if so; else a line that says what is
# wrong, and status 2. By readelf: nm loads every plugin of the linker first, which takes longer than the rest.
check_kernel() ( # lab.sh: what build/lab --shell prints; object
    command -v readelf >/dev/null || exit 0 # the linker will miss the wrapper all the same
    . "$1" # kernel, wrapper, parameters and types of both
    # "GLOBAL mine::wrapper(char, int)", "LOCAL void kernel<16>(int)", and without parameters what is extern "C".
    functions=$(readelf -sW "$2" | awk '$4 == "FUNC" && $7 != "UND" { print $5, $8 }' | c++filt)

    # Lines of $KERNEL that name a function in front of a parenthesis, with their numbers. Only for the message: a
    # comment after code, or a macro, may mislead it.
    lines_with() { # what comes before the name, name
        grep -nE "^[^/*\"#]*$1([^[:alnum:]_]|^)$2[[:space:]]*\\(" "$KERNEL"
    }
    defined() { # function
        printf '%s\n' "$functions" | grep -E "[ :]$1(\$|[(<])"
    }
    refuse() { # function, message
        line=$(lines_with '' "$1" | head -n 1 | cut -d: -f1)
        fail 2 "$KERNEL${line:+:$line}: $2"
    }

    ! printf '%s\n' "$functions" | grep -qx 'GLOBAL main' || refuse main 'remove main(): main.cu has one'
    [ -z "$kernel" ] || defined "$kernel" >/dev/null || # in any namespace, with any parameters, static, a template
        refuse "$kernel" "does not define __global__ void $kernel$parameters"
    ! printf '%s\n' "$functions" | grep -qxF -e "GLOBAL $wrapper$types" -e "WEAK $wrapper$types" || exit 0

    found=$(defined "$wrapper" | sed -n "1{
        s/^[A-Z]* $wrapper\$/extern \"C\" $wrapper/
        s/^LOCAL $wrapper/static $wrapper/
        s/^[A-Z]* //
        p
    }")
    [ "$found" ] || # what is static or inline and unused is not in the object
        found=$(lines_with '(static|inline)[^;]*' "$wrapper" |
            sed -n '1{ s/^[0-9]*:[[:space:]]*//; s/[[:space:]]*[{\r].*//; p; }')
    wanted="void $wrapper$parameters"
    [ -z "$found" ] || refuse "$wrapper" "has $found, but main.cu calls $wanted"
    refuse "$wrapper" "does not define $wanted"
)

# Has each call of a host function by kernel.cu pass through a guard, which lets the host's own calls through and stops
# a kernel that makes one: nvcc does not compile those, and what a library loads and stores the checker does not see.
# Device functions that load or store through a pointer become the checker's own (access.c, host_call.c). From an OBJECT
# of the checked build to BASEed.o, the same with its calls renamed, and BASEs.o, the guards, which are linked with it.
# Without objcopy there are none.
guard() ( # object, BASEed
    object=$1 out=$2 macro=$engine/watch/guard/host_call.S
    if command -v objcopy >/dev/null; then
        rename_calls || exit
    else
        cp "$object" "$out.o" && cp "$macro" "$out.S" || exit
    fi
    run $CC -c "$out.S" -o "${out%ed}s.o"
)

# What kernels may call: CUDA's device functions, and what compilers and the emulator's headers put there themselves;
# and what is no function.
device="($math)f?l?|abs|labs|puts|putchar|malloc|_Zn[wa]\\w*|__assert_fail|abort"
compilers="emulator_\\w*|__tsan_\\w*|__ubsan_\\w*|__sanitizer_cov_\\w*|__\\w*_guard|__cxa_guard_\\w*|__stack_chk_fail"
compilers="$compilers|__g\\w\\w_personality_v0|__aarch64_\\w*|__\\w+[dstx][fi][234]?|__tls_get_addr|__x86_indirect_\\w*"
compilers="$compilers|__clang_call_terminate|_ZSt9terminatev"
data="threadIdx|blockIdx|blockDim|gridDim|stdin|stdout|stderr|_GLOBAL_OFFSET_TABLE_|__dso_handle"
data="$data|_ZT\\w*|_ZSt(3cin|4cout|4cerr|4clog|7nothrow)|_ZNSt\\w*(2id|4npos)E|DW\\.ref\\.\\w*"

# Of an undefined symbol an object does not say whether it is a function or data, such as getopt's optarg. A function is
# what is called by its name; and where indirect calls do not go through host_call.S, all that the libraries do not know
# as data, because its address may be called.
functions() { # in guard
    case $($CXX -dumpmachine) in
    *x86_64*) calls=PLT32 libraries= ;;
    *) calls=. libraries=$(for name in c m stdc++; do $CXX -print-file-name=lib$name.so.6; done) ;;
    esac
    { [ ! "$libraries" ] || readelf -sW $libraries; } 2>/dev/null | awk -v calls="$calls" '
        $3 ~ "^R_.*" calls { called[$5] }
        $4 == "OBJECT" { sub("@.*", "", $8); data[$8] }
        $5 == "GLOBAL" && $7 == "UND" && $8 in called && !($8 in data) { print $8 }' - "$out.symbols" |
        grep -vxE "$device|$compilers|$data"
}

rename_calls() { # in guard
    readelf -rW "$object" >"$out.symbols" && readelf -sW "$object" >>"$out.symbols" || return
    {
        cat "$macro" >&3
        for name in $(functions); do
            guard=guard instead=guarded_$name
            case $name in
            memcpy | memmove | memset) instead=__tsan_$name ;;
            sincos | sincosf | frexp | frexpf | modf | modff | remquo | remquof | printf | vprintf | clock)
                instead=checker_$name
                ;;
            free | _Zd[al]Pv*) guard=frees ;;
            esac
            echo "$name $instead"
            echo "$guard $name" >&3
        done
    } >"$out.names" 3>"$out.S"
    # All its code in one place: linkers put what is hot, or begins a program, somewhere else, and watch/extents.c knows
    # kernel.cu's functions by where they are.
    apart=$(readelf -SW "$object" | sed -nE \
        's/.* (\.text\.(hot|unlikely|startup|exit|unknown|split)[^ ]*) .*/--rename-section \1=.text.kernel/p')
    objcopy --redefine-syms="$out.names" $apart "$object" "$out.o"
}

# The checked build once more, of a text that says which local variables come into scope.
locals_object() { # the program insert, prelude, C++ that was CUDA, BASE: BASE_guarded.o and BASE_guards.o
    "$1" "$engine/watch/locals/local.h" <"$3" >"$4.ii" &&
        compile_behind "$2" "$4.ii" "$4.o" $CHECKED_FLAGS -w 2>/dev/null && guard "$4.o" "$4_guarded"
}

carry() { # file: what a program carries along: the lab, if it is not the usual one; kernel.cu's name and its bytes
    [ -f "$KERNEL" ] || fail 2 "${KERNEL:-(no KERNEL)}: no such file; KERNEL=... names the .cu file to build"
    case $LAB in lab) lab= ;; *) lab=$LAB ;; esac
    { printf '%s\0%s\0' "$lab" "$KERNEL" && cat "$KERNEL"; } | replace "$1"
}

# An object that holds the file's bytes between the symbols NAME and NAME_end, and a null byte behind them.
embed() { # name, file, object
    printf '%s\n' '.section .rodata' ".global $1, $1_end" "$1:" ".incbin \"$2\"" "$1_end:" '.byte 0' \
        '.section .note.GNU-stack, "", %progbits' | run $CC -x assembler -c - -o "$3"
}

linked() { # objects and options, and archives, which need each other, in a group
    objects= archives=
    for file; do
        case $file in *.a) archives="$archives $file" ;; *.[oS] | -*) objects="$objects $file" ;; esac
    done
    echo "$objects -Xlinker --start-group $archives -Xlinker --end-group"
}

link() { # program, objects, archives, options
    program=$1
    shift
    run $CXX $EMULATED_FLAGS -fno-sanitize=return $(linked "$@") -o "$program" -lm # whose handler is the runtime's
}

link_cuda() { # libraries lie beside nvcc; the driver's is the toolkit's stub where no driver is installed
    program=$1 libraries=$(cd "$(dirname "$NVCC")/../lib64" 2>/dev/null && pwd)
    shift
    run "$NVCC" $CUDA_FLAGS $(linked "$@") -o "$program" -lpthread -Xlinker "-rpath=$libraries"
}
