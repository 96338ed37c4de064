# Refuses what nvcc refuses: calls and data of the wrong side (main.c says which).
#
#     check_spaces.sh SPACES MARKED COMPILER [FLAG...]
#
# SPACES is the program, MARKED the text that ../rewrite.c has marked. Exit status 1: something is
# refused, with its lines on standard error. A text that does not compile is accepted here: so it is
# reported once, by the compiler that builds the program.
spaces=$1 marked=$2
shift 2

# Nothing inlined, and a section for each function and variable: so that each call and each use of
# data has a relocation. Some distributions' compilers protect the stack by default, by a call of the
# C library. gcc would make puts of a printf, and nothing of a memmove.
"$@" -fno-sanitize=all -O0 -w -gdwarf-4 -fno-inline -ffunction-sections -fdata-sections \
    -fno-stack-protector -fno-builtin-printf -fno-builtin-memmove \
    -x c++-cpp-output -c "$marked" -o "$marked.o" 2>/dev/null || exit 0
"$spaces" "$marked.o"
