# What `make bench` does once ladder and worker are built: compiles the kernels named in KERNELS, all
# at once, and measures those that compile. COMPILE is nvcc with its flags. What does not compile
# leaves no library, but a log of the compiler's words: the ladder says so and goes on.

set -f # no name is a pattern
libraries=build/bench/kernels
rm -rf "$libraries"
mkdir -p "$libraries"

compile() { # kernel library
    case $1 in
    -*) set -- "./$1" "$2" ;; # no option of the compiler's
    esac
    $COMPILE -x cu "$1" -o "$2" >"$2.log" 2>&1 || rm -f "$2"
}

set --
for kernel in $KERNELS; do
    set -- "$@" "$kernel" "$libraries/$#.so"
    [ -f "$kernel" ] && compile "$kernel" "$libraries/$(($# - 2)).so" &
done
echo "compiling $(($# / 2)) kernels" >&2
wait

build/bench/ladder ${SHAPES:+--shapes "$SHAPES"} ${SAMPLES:+--samples "$SAMPLES"} \
    ${LAUNCH:+--launch "$LAUNCH"} ${PATIENCE:+--patience "$PATIENCE"} -- "$@"
status=$?
if [ build/bench/ladder.json -nt "$libraries" ] && ! $MAKE --no-print-directory bench-charts >&2; then
    echo 'no charts here; make bench-charts draws them anywhere from build/bench/ladder.json' >&2
fi
exit $status
