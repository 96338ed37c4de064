# Makes a virtual environment and installs what a file lists there, each package by its hash.
#
#     venv.sh PYTHON VENV REQUIREMENTS [option of pip install]...
#
# On a terminal pip's own lines show how far it is; a failure ends in one line that says what to do.
python=$1 venv=$2 requirements=$3
shift 3

fail() { # message
    echo "$1" >&2
    exit 3
}

install() { # option of pip...
    "$venv/bin/python" -m pip install --disable-pip-version-check --require-hashes "$@" \
        -r "$requirements"
}

install_in_sight() { # option of pip...
    status=$venv/installed
    rm -f "$status"
    { install "$@" 2>&1 && : >"$status"; } | while IFS= read -r line; do
        case $line in
        ERROR:*) printf '\r\033[K%s\n' "$line" ;;
        *) printf '\r\033[K%.79s' "$line" ;;
        esac
    done
    printf '\r\033[K'
    [ -e "$status" ]
}

"$python" -c '' 2>/dev/null ||
    fail "$python does not run: install Python 3.10 or newer (Debian: python3-venv)"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    fail "$("$python" -V) is too old: Python 3.10 or newer is needed (PYTHON=... names it)"
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    fail "$python has no venv: install it (Debian: python3-venv)"
mkdir -p "$venv" 2>/dev/null && [ -w "$venv" ] ||
    fail "$venv cannot be written: VENV=path names another folder for Python's packages"

echo "installing $(grep -c '^[a-z].*==' "$requirements") Python packages into $venv (once)"
"$python" -m venv "$venv" || fail "no virtual environment can be made in $venv"
if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then
    install_in_sight "$@"
else
    install --quiet "$@"
fi || fail "Python's packages could not be installed: is there a network?"
