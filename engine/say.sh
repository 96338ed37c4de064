# Sourced by the scripts that build: what they have in common.

say() { # words: a line, unless make was called with -s
    [ "$SILENT" ] || printf '%s\n' "$*" >&"${SAY_ON:-1}"
}

run() { # command...: shown with V=1
    [ "$V" != 1 ] || printf '%s\n' "$*"
    "$@"
}

fail() { # exit status, message
    printf '%s\n' "$2" >&2
    exit "$1"
}

find_nvcc() { # sets NVCC, if it was not given; to nothing, if there is none
    [ "${NVCC+given}" ] || NVCC=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
}

replace() { # file: by standard input, and only if that is something else, so that nothing is built again
    cat >"$1.new" && if cmp -s "$1.new" "$1"; then rm "$1.new"; else mv "$1.new" "$1"; fi
}

has_settings() { # file: one of an older version has other lines
    [ -f "$1" ] && read -r first <"$1" && case $first in [A-Z]*=*) ;; *) false ;; esac
}

setting() { # NAME value...: lines that a shell reads again, whatever the values hold
    while [ $# -gt 0 ]; do
        printf "%s='%s'\n" "$1" "$(printf '%s\n' "$2" | sed "s/'/'\\\\''/g")"
        shift 2
    done
}
