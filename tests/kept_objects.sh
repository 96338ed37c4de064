# cc, as the tests call it (conftest.py): an object that one of them has compiled of C the others copy,
# since many of them build the same files with the same flags, in copies of the repository.
#
#     sh kept_objects.sh CC STORE ARGUMENTS...     CC: the compiler; STORE: a folder that all of them share
#
# An object is kept by its arguments, its source and the headers that it includes, but for the system's.
# What gives a warning is compiled each time.
cc=$1 store=$2
shift 2
case " $* " in
*" -MMD -MP -MF "*" -c "*.c" -o "*.o" ") ;;
*) exec "$cc" "$@" ;;
esac

files() {
    while [ $# -gt 6 ]; do shift; done # -MF dependencies -c source -o object
    dependencies=$2 source=$4 object=$6
}

# The object's path in the store, by what the headers hold now.
look_up() {
    # shellcheck disable=SC2046 # a path in each line, without blanks
    sum=$(cat /dev/null $(cat "$kept.headers") 2>&1 | sha256sum)
    found=$kept.${sum%% *}
}

files "$@"
sum=$({ echo "$*"; cat "$source"; } | sha256sum)
kept=$store/${sum%% *}
if [ -f "$kept.headers" ]; then
    look_up
    if [ -f "$found.o" ]; then
        cp "$found.o" "$object" && cp "$found.d" "$dependencies"
        exit
    fi
fi

said=$("$cc" "$@" 2>&1)
status=$?
[ ! "$said" ] || printf '%s\n' "$said" >&2
if [ $status -eq 0 ] && [ ! "$said" ]; then
    sed -n 's/:$//p' "$dependencies" >"$kept.$$" # -MP: a line for each header
    mv "$kept.$$" "$kept.headers"
    look_up
    cp "$dependencies" "$kept.$$" # in one step each: another one may do the same
    mv "$kept.$$" "$found.d"
    cp "$object" "$kept.$$"
    mv "$kept.$$" "$found.o"
fi
exit $status
