/* The types that an array's elements may have: how large they are, and what their bytes say. */
#ifndef ENGINE_REPORT_ELEMENT_TYPE_H
#define ENGINE_REPORT_ELEMENT_TYPE_H
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum element {
    ELEMENT_BYTES, /* of any type: values are not shown */
    ELEMENT_I8,
    ELEMENT_U8,
    ELEMENT_I16,
    ELEMENT_U16,
    ELEMENT_I32,
    ELEMENT_U32,
    ELEMENT_I64,
    ELEMENT_U64,
    ELEMENT_F32,
    ELEMENT_F64,
    ELEMENTS
};

/* "f32"; of ELEMENT_BYTES "bytes". */
const char *element_type_name(enum element element);
/* How large one is; 0: ELEMENT_BYTES. */
size_t element_type_bytes(enum element element);
/* Makes it this value, which its type can hold. ELEMENT_BYTES: nothing. */
void element_set(enum element element, void *bytes, double value);
/* Its value, as far as a double can hold it. False: ELEMENT_BYTES. */
bool element_value(enum element element, const void *bytes, double *value);

#ifdef __cplusplus
}
#endif
#endif
