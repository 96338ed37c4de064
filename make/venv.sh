# Makes a virtual environment and installs what these files list there, each package by its hash.
#
#     venv.sh PYTHON VENV REQUIREMENTS...
#
# On a terminal pip's own lines show how far it is; a failure ends in one line that says what to do.
python=$1 venv=$2
shift 2
trap 'exit 130' INT TERM HUP

fail() { # message
    echo "$1" >&2
    exit 3
}

# What takes a moment: Ctrl-C waits for it, or Python would answer with a traceback.
ask() { # option of Python...
    sh make/start_python.sh "$python" "$@"
}

# What takes longer: in a session of its own, which Ctrl-C ends here, with its temporary files.
run() { # command...
    TMPDIR=$(cd "$venv" && pwd)/tmp
    export TMPDIR
    mkdir -p "$TMPDIR"
    setsid "$@" </dev/null &
    child=$!
    trap 'kill -TERM "-$child" 2>/dev/null || kill -TERM "$child"
          wait; rm -rf "$TMPDIR"; exit 130' INT TERM HUP
    wait "$child"
    status=$?
    trap 'exit 130' INT TERM HUP
    rm -rf "$TMPDIR"
    return "$status"
}

install() { # option of pip...
    run "$venv/bin/python" -m pip install --disable-pip-version-check --no-deps --require-hashes "$@"
}

install_in_sight() { # option of pip...
    done=$venv/installed
    rm -f "$done"
    { install "$@" 2>&1 && : >"$done"; } | while IFS= read -r line; do
        case $line in
        ERROR:*) printf '\r\033[K%s\n' "$line" ;;
        *) printf '\r\033[K%.79s' "$line" ;;
        esac
    done
    printf '\r\033[K'
    [ -e "$done" ]
}

ask -c '' 2>/dev/null ||
    fail "$python does not run: install Python 3.10 or newer (Debian: python3-venv)"
ask -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    fail "$(ask -V 2>&1) is too old: Python 3.10 or newer is needed (PYTHON=... names it)"
ask -c 'import ensurepip, venv' 2>/dev/null ||
    fail "$python has no venv: install it (Debian: python3-venv)"
mkdir -p "$venv" 2>/dev/null && [ -w "$venv" ] ||
    fail "$venv cannot be written: VENV=path names another folder for Python's packages"

echo "installing $(cat "$@" | grep -c '^[a-z].*==') Python packages into $venv (once)"
for file; do
    shift
    set -- "$@" -r "$file"
done
run "$python" -m venv "$venv" || fail "no virtual environment can be made in $venv"
if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then
    install_in_sight "$@"
else
    install --quiet "$@"
fi || fail "Python's packages could not be installed: is there a network?"
