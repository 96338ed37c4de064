/* The tables of cuda_errors.def and faults.def for C: see device.h. */
#define _GNU_SOURCE /* strsignal */
#include "device.h"
#include "cuda_errors.def"
#include "text/text.h"
#include <inttypes.h>
#include <string.h>

/* --- errors ----------------------------------------------------------------------------------- */

const char *cuda_error_name(int error) {
    switch (error) {
#define ERROR_ROW(name, number, text)                                                              \
    case number: return #name;
        EMULATOR_CUDA_ERRORS(ERROR_ROW)
#undef ERROR_ROW
    default: return "unrecognized error code";
    }
}

const char *cuda_error_text(int error) {
    switch (error) {
#define ERROR_ROW(name, number, text)                                                              \
    case number: return text;
        EMULATOR_CUDA_ERRORS(ERROR_ROW)
#undef ERROR_ROW
    default: return "unrecognized error code";
    }
}

/* --- faults ----------------------------------------------------------------------------------- */

static const struct {
    const char *name, *text, *advice;
} faults[FAULTS] = {
#define FAULT(code, name, text, advice) [FAULT_##code] = {name, text, advice},
#include "faults.def"
#undef FAULT
};

static bool is_one(enum fault_code code) { return (unsigned)code < FAULTS && code != FAULT_NONE; }

const char *fault_name(enum fault_code code) { return is_one(code) ? faults[code].name : NULL; }

const char *fault_advice(enum fault_code code) { return is_one(code) ? faults[code].advice : ""; }

void fault_say(const struct fault_facts *f, char *text, size_t bytes) {
    const char *format = is_one(f->code) ? faults[f->code].text : "";
    text[0] = '\0';
    switch (f->code) {
    case FAULT_ENDLESS: append(text, bytes, format, f->seconds); break;
    case FAULT_TIME_LIMIT:
        append(text, bytes, format, grouped(f->blocks).text, grouped(f->of).text, f->seconds);
        break;
    case FAULT_HOST: append(text, bytes, format, strsignal(f->signal)); break;
    case FAULT_DEVICE_POINTER: append(text, bytes, format, f->address); break;
    case FAULT_ASSERTION:
        if (f->assertion)
            append(text, bytes, format, f->assertion);
        else
            append(text, bytes, "an assertion of the kernel failed");
        break;
    default: append(text, bytes, "%s", format);
    }
}
