# Does the object of a submission define the assignment's two functions? Silent if so; else one
# line that says what is missing, and exit status 2.
#
#     KERNEL=kernel.cu check_kernel.sh kernel.o

symbols=$(nm -C "$1")

defines() { # extended regular expression for the demangled name
    printf '%s\n' "$symbols" | grep -Eq "^[0-9a-f]+ [TtWw] (void )?$1"
}

missing() { # prototype
    echo "$KERNEL: does not define $1" >&2
    exit 2
}

defines 'mysgemm[(<]' ||
    missing '__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)'
defines 'basicSgemm\(int, int, int, float const\*, float const\*, float\*\)$' ||
    missing 'void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)'
