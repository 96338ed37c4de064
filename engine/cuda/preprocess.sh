# From a .cu file to C++ for the CPU backend: the preprocessor, then engine/cuda/rewrite.c.
#
#     preprocess.sh [--once] INCLUDE SUPPORT REWRITE FILE.cu OUT COMPILER [FLAG...]
#
# INCLUDE is engine/cuda/include, SUPPORT the directory of support.h, REWRITE the program. Writes OUT.i
# and OUT.device.i, the text with __CUDA_ARCH__, and of both OUT.new, and OUT.marked for
# engine/cuda/spaces/check_spaces.sh; OUT.*.errors are its own.
# --once: one run of the preprocessor serves for both texts where no file has __CUDA_ARCH__ in it. A
# file can put this macro together from parts, so no grade may depend on that.
# Where REWRITE is "", the file has none of CUDA's words, and is compiled as it is, to OUT.o.
# Exit status 1: the file cannot be compiled for the CPU; why is on standard error.
set -f
once=
case $1 in --once) once=$1 && shift ;; esac
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

# 900 is the compute capability that engine/cuda/runtime/device.c reports.
for_device() { preprocess "$@" -D__CUDA_ARCH__=900 >"$out.device.i" 2>"$out.device.i.errors"; }

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

[ "$once" ] || for_device "$@" &
preprocess "$@" >"$out.i" 2>"$out.i.errors"
host=$?
if [ ! "$once" ]; then
    wait $!
elif asks_for_arch; then
    for_device "$@"
else
    cp "$out.i" "$out.device.i"
fi
device=$?
if [ $host -eq 0 ] && [ $device -eq 0 ]; then
    "$rewrite" "$out.device.i" "$out.marked" <"$out.i" >"$out.new" && cat "$out.i.errors" >&2 # warnings
    exit
fi
[ $host -ne 0 ] || mv "$out.device.i.errors" "$out.i.errors"

# Of one of CUDA's headers it is said in one line that it is not for the CPU, be it that it does not
# compile or that it is not there, which is shown to the rewriter as if it were there.
sed -n "s/^\(.*\):\([0-9]*\):[0-9]*: fatal error: '*\([^':]*\).*/# \2 \"\1\"\n# 1 \"\3\" 1/p" \
    "$out.i.errors" >>"$out.i"
"$rewrite" --headers <"$out.i" && cat "$out.i.errors" >&2
exit 1
