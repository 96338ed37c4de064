#!/bin/sh
# Grades $HANDIN, and prints what Autolab reads: its last line is {"scores": ...}.
#
# If the machine is at fault there is no such line, make ends with an error, and Autolab reports that
# it could not read the autoresult. Nothing may be printed after the line.
#
# SGEMM_PYTHON  a Python that has the packages of grader/requirements.txt; default: the one in
#               /opt/sgemm of the image (docs/ci.md), else python3
set -u
python=${SGEMM_PYTHON:-/opt/sgemm/bin/python}
command -v "$python" >/dev/null || python=python3

no_grade() {
    echo "No grade was given. Nothing is wrong with the submission: $1"
    exit 1
}

job=$PWD
project=$(cd "$(dirname "$0")/project" && pwd) || no_grade "autograde.tar is incomplete"
find "$project" -path '*/testcases/hidden' -exec chmod -R go= {} + || no_grade "cannot hide the cases"
work=$(mktemp -d) || no_grade "no temporary directory"
trap 'rm -rf "$work"' EXIT
cd "$project" || no_grade "autograde.tar is incomplete"
"$python" -m grader.exporters.hand_in autolab --submission "$job/$HANDIN" --suite "$SUITE" \
    ${PROBLEM:+--problem "$PROBLEM"} --results "$work" -o "$work/feedback" 2>&1 ||
    no_grade "the line above says what is wrong with the machine or the cases"
cat "$work/feedback"
