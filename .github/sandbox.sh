#!/bin/sh
# Makes bubblewrap work on a CI runner (Debian, Ubuntu), so that a submission is built and run in a
# sandbox there: installs it, and lets it make user namespaces where Ubuntu's AppArmor forbids that
# (since 23.10). For machines that are thrown away afterwards; docs/security.md says what a machine
# that stays should do instead.
set -eu

works() { bwrap --unshare-user --unshare-pid --ro-bind / / true 2>/dev/null; }

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

if ! command -v bwrap >/dev/null; then
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends bubblewrap >/dev/null
fi
if ! works && [ -e /proc/sys/kernel/apparmor_restrict_unprivileged_userns ]; then
    as_root sysctl -q -w kernel.apparmor_restrict_unprivileged_userns=0
fi
if works; then
    echo "bubblewrap works"
else
    echo "bubblewrap does not work here: user namespaces are not allowed. The public suite runs" \
        "without a sandbox then; hidden ones do not run" >&2
fi
