# What make says of its work.
#
#     say.sh line TEXT    a line
#     say.sh file NAME    on a terminal: what is being compiled, until the next line
#
# A file's name is short and leaves the cursor in front of it, so that what a compiler prints
# replaces it.
on_terminal() { [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; }

if on_terminal; then printf '\r\033[K'; fi
case $1 in
line) printf '%s\n' "$2" ;;
file) if on_terminal; then printf '%.24s\r' "${2##*/}"; fi ;;
esac
