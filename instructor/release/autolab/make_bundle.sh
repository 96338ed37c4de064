#!/bin/sh
# Makes DIRECTORY/autolab, the two files that Autolab wants for an assessment's autograder:
#     sh instructor/release/autolab/make_bundle.sh DIRECTORY
# autograde.tar holds the grader and all cases; autograde-Makefile runs it. docs/ci.md goes on from
# there.
set -eu
if [ $# -ne 1 ]; then
    echo "usage: make_bundle.sh DIRECTORY" >&2
    exit 2
fi
here=$(dirname "$0")
out=$1/autolab
sh "$here/../../../make/start_python.sh" "${PYTHON:-python3}" "$here/../pack.py" "$out/autograde.tar" "sgemm-autograder/" \
    "$here/grade.sh=grade.sh"
cp "$here/autograde-Makefile" "$out/autograde-Makefile"
chmod 644 "$out/autograde-Makefile"
