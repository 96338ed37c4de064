# From a .cu file to C++ for the CPU backend: the preprocessor, then engine/cuda/rewrite.c.
#
#     preprocess.sh INCLUDE SUPPORT REWRITE FILE.cu OUT COMPILER [FLAG...]
#
# INCLUDE is engine/cuda/include, SUPPORT the directory of support.h, REWRITE the program. Writes OUT.i
# and OUT.device.i, the text with __CUDA_ARCH__, and of both OUT.new, and OUT.marked for
# engine/cuda/spaces/check_spaces.sh; OUT.*.errors are its own.
# Where there is no REWRITE ("") the file is compiled as it is, to OUT.o: it has none of CUDA's words.
# Exit status 1: the file cannot be compiled for the CPU; why is on standard error.
set -f
include=$(cd "$1" && pwd) support=$2 rewrite=$3 file=$4 out=$5
shift 5
LC_ALL=C # in which the messages below are read
export LC_ALL

# CUDA's own headers are to come behind ours: those of an -I, and those of CPATH.
for word; do
    shift
    case $word in -I?*) [ ! -e "${word#-I}/cuda_runtime.h" ] || word=-idirafter${word#-I} ;; esac
    set -- "$@" "$word"
done
if [ "$CPATH" ]; then
    CPLUS_INCLUDE_PATH=${CPLUS_INCLUDE_PATH:+$CPLUS_INCLUDE_PATH:}$CPATH
    export CPLUS_INCLUDE_PATH
    unset CPATH
fi

# Those of CUDA's headers that hold nothing here: what they declare, cuda_runtime.h does, or nothing.
empty=$out.empty
mkdir -p "$empty/cuda"
while read -r name; do : >"$empty/$name"; done <"$include/empty.txt"

# Some distributions' gcc fortifies by default: it then calls functions of other names, __strncpy_chk.
compiler() {
    "$@" -U_FORTIFY_SOURCE -iquote "$support" -isystem "$include" -isystem "$empty" \
        -include cuda_runtime.h -x c++ "$file"
}
preprocess() { compiler "$@" -E; }

if [ ! "$rewrite" ]; then
    compiler "$@" -D__global__= -D__device__= -D__host__= -D__constant__= -c -o "$out.o"
    exit
fi

# The text for the device is the same unless a file asks for the macro. 900 is the compute capability that
# engine/cuda/runtime/device.c reports.
for_device() { # the same arguments; $out.i is made
    files=$(sed -n 's/^# [0-9]* "\([^<].*\)" [13].*/\1/p' "$out.i" | sort -u)
    case $files in
    *\\*) ;; # in a name: it is not the file's own
    *)
        IFS='
'
        grep -qs __CUDA_ARCH__ -- "$file" $files
        asked=$?
        unset IFS
        [ $asked = 0 ] || { cp "$out.i" "$out.device.i" && return; }
        ;;
    esac
    preprocess "$@" -D__CUDA_ARCH__=900 >"$out.device.i" 2>"$out.i.errors"
}

if preprocess "$@" >"$out.i" 2>"$out.i.errors" && for_device "$@"; then
    "$rewrite" "$out.device.i" "$out.marked" <"$out.i" >"$out.new" && cat "$out.i.errors" >&2 # warnings
    exit
fi

# Of one of CUDA's headers it is said in one line that it is not for the CPU, be it that it does not
# compile or that it is not there, which is shown to the rewriter as if it were there.
sed -n "s/^\(.*\):\([0-9]*\):[0-9]*: fatal error: '*\([^':]*\).*/# \2 \"\1\"\n# 1 \"\3\" 1/p" \
    "$out.i.errors" >>"$out.i"
"$rewrite" --headers <"$out.i" && cat "$out.i.errors" >&2
exit 1
