# Does the object of a submission define the assignment's two functions? Silent if so; else one
# line that says what is missing, and exit status 2.
#
#     KERNEL=kernel.cu check_kernel.sh kernel.o
#
# By readelf: nm loads every plugin of the linker first, which takes longer than the rest.
command -v readelf >/dev/null || exit 0 # the linker will miss basicSgemm all the same
functions=$(readelf -sW "$1" | awk '$4 == "FUNC" && $7 != "UND" { print $8 }')

defines() { # extended regular expression for the mangled name
    printf '%s\n' "$functions" | grep -Eq "^$1"
}

missing() { # prototype
    echo "$KERNEL: does not define $1" >&2
    exit 2
}

defines '_Z7mysgemm' || # with any parameters, or a template
    missing '__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)'
defines '_Z10basicSgemmiiiPKfS0_Pf$' ||
    missing 'void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)'
