#!/bin/sh
# Makes DIRECTORY/classroom50, the files of CLASSROOM/autograders/ASSIGNMENT in the repository
# classroom50 of an organization:
#     sh instructor/release/classroom50/make_bundle.sh DIRECTORY
# Classroom 50 publishes that folder as a web page, so there are no hidden cases in project.tar.
# docs/ci.md goes on from there.
set -eu
if [ $# -ne 1 ]; then
    echo "usage: make_bundle.sh DIRECTORY" >&2
    exit 2
fi
here=$(dirname "$0")
out=$1/classroom50
sh "$here/../../../make/start_python.sh" "${PYTHON:-python3}" "$here/../pack.py" --public "$out/project.tar" "" \
    "$here/../../../.github/sandbox.sh=sandbox.sh"
cp "$here/autograder.py" "$out/autograder.py"
chmod 644 "$out/autograder.py"
