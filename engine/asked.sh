# Looks at what make was asked for. Prints the lab's name, the backend, the GPU that it compiles for, if that was
# looked up, or a dash, and why; or else a dash, and what is refused.
#
#     BACKEND=auto LAB=lab asked.sh GOALS GIVEN MAKEFILE...     GIVEN: names of variables
. engine/say.sh
set -f
refuse() {
    echo "- $*"
    exit
}
case $LAB in
'' | *[!A-Za-z0-9_./-]*) refuse "LAB=$LAB: must have no blanks, or signs that a shell acts on" ;;
esac
[ -f "$LAB/lab.c" ] || refuse "LAB=$LAB: there is no lab here: $LAB/lab.c is missing"
name=$(sed -n '/^ *\.name = "\([a-z][A-Za-z0-9_]*\)",$/{ s//\1/p; q; }' "$LAB/lab.c")
[ "$name" ] || refuse "$LAB/lab.c: has no line '.name = \"...\",' of letters, digits and _ behind a small letter, by which programs are called"

goals= given=$2
for goal in ${1:-all}; do # a program by its name is what makes it
    case $goal in "$name") goal=all ;; "$name-check") goal=check ;; esac
    goals=${goals:+$goals }$goal
done
shift
[ -z "$given" ] || refused=$(awk -f engine/given.awk "$goals" "$@")
[ -z "$refused" ] || refuse "$refused"

case $BACKEND in
auto) ;;
cpu | cuda) echo "$name $BACKEND - BACKEND=$BACKEND" && exit ;;
*) refuse "BACKEND=$BACKEND: it is auto, cuda or cpu" ;;
esac
case $goals in # a GPU takes a moment to answer
help | clean | distclean | check | walk | grade*) echo "$name cpu - not asked for" && exit ;;
esac
find_nvcc
if [ -z "$NVCC" ]; then
    echo "$name cpu - there is no nvcc here"
elif gpu=$(sh engine/gpu_arch.sh 2>/dev/null) || [ "$gpu" ]; then
    echo "$name cuda $gpu nvcc and a GPU are here"
else
    echo "$name cpu - nvcc is here, but no GPU answers"
fi
