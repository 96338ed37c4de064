# Runs a Python program of this project. Its packages are installed the first time, each by its hash, into VENV.
#
#     PYTHON=python3 VENV=.venv python.sh -i LIST...        installs what requirements.txt of each LIST names
#     PYTHON=python3 VENV=.venv python.sh ARGUMENT...       runs, with these packages
#     PYTHON=python3 python.sh -s ARGUMENT...               without any
. engine/say.sh
python=${PYTHON:-python3} venv=${VENV:-.venv}
lacks='does not run: install Python 3.10 or newer (Debian: python3-venv)'

# The interpreter, while it starts, answers Ctrl-C with a traceback; grader/interrupt.py is ready for it. It takes this
# shell's place: a signal that comes while a shell starts a program can be lost.
block='env --block-signal=INT'
$block true 2>/dev/null || block= # coreutils before 8.31

case $1 in
-i) shift ;;
-s)
    command -v "$python" >/dev/null || fail 3 "$python $lacks"
    shift && exec $block "$python" -B "$@"
    ;;
*) exec $block "$venv/bin/python" -B "$@" ;;
esac

trap 'exit 130' INT TERM HUP
lists= newer=
for list; do
    lists="$lists $list/requirements.txt"
    [ "$venv/$list-ready" -nt "$list/requirements.txt" ] || newer=$list
done
[ "$newer" ] || exit 0

# What takes longer: in a session of its own, which Ctrl-C ends here, with its temporary files.
apart() {
    setsid "$@" </dev/null &
    child=$!
    trap '{ kill -TERM "-$child" || kill -TERM "$child"; } 2>/dev/null; wait; exit 130' INT TERM HUP
    wait "$child"
}

pip() { # more options
    apart "$venv/bin/python" -m pip install --no-compile --disable-pip-version-check --no-deps --require-hashes \
        "$@" $(printf ' -r %s' $lists)
}

# Without it each program would compile again what it imports: pip, told to compile, takes longer than for the rest,
# and Python -B keeps none.
keep_bytecode='
import importlib, py_compile, sys
for name in "grader.__main__", "course.__main__", "xdist.remote":
    try:
        importlib.import_module(name)
    except Exception: # of a list that is not installed
        pass
for module in list(sys.modules.values()):
    spec = getattr(module, "__spec__", None)
    if spec and spec.cached and str(spec.origin).startswith(sys.prefix):
        py_compile.compile(spec.origin)'

in_sight() { # how far it is, in one line of a terminal: pip's own lines, one over the other
    while IFS= read -r line; do
        case $line in
        ERROR:*) printf '\r\033[K%s\n' "$line" ;;
        *) printf '\r\033[K%.79s' "$line" ;;
        esac
    done
    printf '\r\033[K'
}

$block "$python" -c '' 2>/dev/null || fail 3 "$python $lacks"
$block "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    fail 3 "$($block "$python" -V 2>&1) is too old: Python 3.10 or newer is needed (PYTHON=... names it)"
$block "$python" -c 'import ensurepip, venv' 2>/dev/null ||
    fail 3 "$python has no venv: install it (Debian: python3-venv)"
mkdir -p "$venv" 2>/dev/null && [ -w "$venv" ] ||
    fail 3 "$venv cannot be written: VENV=path names another folder for Python's packages"
TMPDIR=$(cd "$venv" && pwd)/tmp
export TMPDIR
mkdir -p "$TMPDIR"
trap 'rm -rf "$TMPDIR"' EXIT
echo "installing $(cat $lists | grep -c '^[a-z].*==') Python packages into $venv (once)"
apart "$python" -m venv "$venv" || fail 3 "no virtual environment can be made in $venv"
if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ] && [ -z "$NO_COLOR" ]; then
    rm -f "$venv/$1-ready"
    { pip 2>&1 && : >"$venv/$1-ready"; } | in_sight
    [ -e "$venv/$1-ready" ]
else
    pip --quiet
fi || fail 3 "Python's packages could not be installed: is there a network?"
apart "$venv/bin/python" -B -c "$keep_bytecode" >/dev/null 2>&1
for list; do : >"$venv/$list-ready"; done
