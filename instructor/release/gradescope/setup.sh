#!/usr/bin/env bash
# Gradescope runs this once, as root, while it makes the image in which submissions are graded
# (Ubuntu 22.04 or newer). Installs what is missing, and grades the untouched kernel.cu, so that the
# instructor notices an image that cannot grade before students do.
#
# AUTOGRADER_ROOT   instead of /autograder
# AUTOGRADER_PYTHON a Python that has the packages of grader/requirements.txt, so that none is
#                   downloaded
set -euo pipefail
root=${AUTOGRADER_ROOT:-/autograder}
project=$root/source/project
python=${AUTOGRADER_PYTHON:-$root/venv/bin/python}
export GRADER_CACHE=$root/cache # the grader's own programs, built below and used by every run

# A program, and the Debian or Ubuntu package that has it.
needs='
make      make
gcc       gcc
g++       g++
addr2line binutils
python3   python3
bwrap     bubblewrap
'

missing_packages() {
    local program package
    while read -r program package; do
        [[ -z $program ]] || command -v "$program" >/dev/null || echo "$package"
    done <<<"$needs"
    [[ -n ${AUTOGRADER_PYTHON:-} ]] || python3 -c 'import ensurepip, venv' 2>/dev/null ||
        echo python3-venv
}

mapfile -t packages < <(missing_packages)
if ((${#packages[@]})); then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${packages[@]}"
fi

if [[ -z ${AUTOGRADER_PYTHON:-} ]]; then
    python3 -m venv "$root/venv"
    "$python" -m pip install --quiet --require-hashes -r "$project/grader/requirements.txt"
fi

# Where Gradescope's container allows no namespaces, a submission runs as another user: what it needs
# has to be readable for everyone, and hidden cases for root only.
chmod -R a+rX "$root/source"
find "$project" -path '*/testcases/hidden' -exec chmod -R go= {} +

check=$(mktemp -d)
trap 'rm -rf "$check"' EXIT
cd "$project"
if ! "$python" -m grader.exporters.hand_in gradescope --suite all \
    --results "$check" -o "$check/results.json"; then
    echo "setup.sh: this image cannot grade; the line above says why" >&2
    exit 1
fi
chmod -R a+rX "$GRADER_CACHE" 2>/dev/null || true
echo "setup.sh: the untouched kernel.cu was graded; the image is ready"
