#!/bin/sh
# Makes DIRECTORY/gradescope.zip, what Gradescope wants for a programming assignment's autograder:
#     sh instructor/release/gradescope/make_bundle.sh DIRECTORY
# In its root lie setup.sh and run_autograder, below project/ what they need. docs/ci.md goes on
# from there.
set -eu
if [ $# -ne 1 ]; then
    echo "usage: make_bundle.sh DIRECTORY" >&2
    exit 2
fi
here=$(dirname "$0")
exec sh "$here/../../../make/start_python.sh" "${PYTHON:-python3}" "$here/../pack.py" "$1/gradescope.zip" "" \
    "$here/setup.sh=setup.sh" "$here/run_autograder=run_autograder"
