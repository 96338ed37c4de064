/* CUDA's errors by their numbers. */
#ifndef ENGINE_REPORT_CUDA_ERRORS_H
#define ENGINE_REPORT_CUDA_ERRORS_H

/* "cudaErrorInvalidValue"; "unrecognized error code". */
const char *cuda_error_name(int error);
/* "invalid argument"; likewise. */
const char *cuda_error_text(int error);

#endif
