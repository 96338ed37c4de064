# Looks at what make was asked for. Prints the lab's name, the backend, the GPU that it compiles for, if that was looked
# up, or a dash, and why; or else a dash, and what is refused.
#
#     BACKEND=auto LAB=lab asked.sh GOALS GIVEN MAKEFILE...     GIVEN: names of variables
. engine/say.sh
set -f
answer() {
    echo "$*"
    exit
}

case $LAB in
'' | *[!A-Za-z0-9_./-]*) answer - "LAB=$LAB: must have no blanks, or signs that a shell acts on" ;;
esac
[ -f "$LAB/lab.c" ] || answer - "LAB=$LAB: there is no lab here: $LAB/lab.c is missing"
name=$(sed -n '/^ *\.name = "\([a-z][A-Za-z0-9_]*\)",$/{ s//\1/p; q; }' "$LAB/lab.c")
[ "$name" ] || answer - "$LAB/lab.c: has no line '.name = \"...\",' of letters, digits and _ behind a small letter," \
    "by which programs are called"

goals=
for goal in ${1:-all}; do # a program by its name is what makes it
    case $goal in "$name") goal=all ;; "$name-check") goal=check ;; esac
    goals=${goals:+$goals }$goal
done
shift
[ -z "$1" ] || refused=$(awk -f engine/given.awk "$goals" "$@")
[ -z "$refused" ] || answer - "$refused"

case $BACKEND in
auto) ;;
cpu | cuda) answer "$name $BACKEND - BACKEND=$BACKEND" ;;
*) answer - "BACKEND=$BACKEND: it is auto, cuda or cpu" ;;
esac
case $goals in # a GPU takes a moment to answer
help | clean | distclean | check | walk | grade*) answer "$name cpu - not asked for" ;;
esac
find_nvcc
[ "$NVCC" ] || answer "$name cpu - there is no nvcc here"
gpu=$(sh engine/gpu_arch.sh 2>/dev/null) || [ "$gpu" ] || answer "$name cpu - nvcc is here, but no GPU answers"
answer "$name cuda $gpu nvcc and a GPU are here"
