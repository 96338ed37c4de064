/* The table of cuda_errors.def for C. */
#include "cuda_errors.h"
#include "cuda_errors.def"

const char *cuda_error_name(int error) {
    switch (error) {
#define ROW(name, number, text)                                                                    \
    case number: return #name;
        EMULATOR_CUDA_ERRORS(ROW)
#undef ROW
    default: return "unrecognized error code";
    }
}

const char *cuda_error_text(int error) {
    switch (error) {
#define ROW(name, number, text)                                                                    \
    case number: return text;
        EMULATOR_CUDA_ERRORS(ROW)
#undef ROW
    default: return "unrecognized error code";
    }
}
