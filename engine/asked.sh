# Looks at what make was asked for. Prints the backend, the GPU that it compiles for, if that was looked up, or a
# dash, and why; or else one line that says what is refused.
#
#     BACKEND=auto LAB=lab asked.sh GOALS GIVEN MAKEFILE...     GIVEN: names of variables
. engine/say.sh
goals=$1 given=$2
[ -z "$given" ] || refused=$(awk -f engine/given.awk "$@")
case $LAB in
'' | *[!A-Za-z0-9_./-]*) refused="LAB=$LAB: must have no blanks, or signs that a shell acts on" ;;
*) [ -f "$LAB/lab.c" ] || refused="LAB=$LAB: no lab is there, for want of $LAB/lab.c" ;;
esac
[ -z "$refused" ] || { echo "$refused" && exit; }

case $BACKEND in
auto) ;;
cpu | cuda) echo "$BACKEND - BACKEND=$BACKEND" && exit ;;
*) echo "BACKEND=$BACKEND: it is auto, cuda or cpu" && exit ;;
esac
case $goals in # a GPU takes a moment to answer
help | clean | distclean | check | walk | grade*) echo "cpu - not asked for" && exit ;;
esac
find_nvcc
if [ -z "$NVCC" ]; then
    echo "cpu - there is no nvcc here"
elif gpu=$(sh engine/gpu_arch.sh 2>/dev/null) || [ "$gpu" ]; then
    echo "cuda $gpu nvcc and a GPU are here"
else
    echo "cpu - nvcc is here, but no GPU answers"
fi
