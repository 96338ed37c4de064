/* Element types: a row for each, with what reads and writes one. See element_type.h. */
#include "element_type.h"
#include <stdint.h>
#include <string.h>

#define TYPES(ROW)                                                                                 \
    ROW(I8, int8_t)                                                                                \
    ROW(U8, uint8_t)                                                                               \
    ROW(I16, int16_t)                                                                              \
    ROW(U16, uint16_t)                                                                             \
    ROW(I32, int32_t)                                                                              \
    ROW(U32, uint32_t)                                                                             \
    ROW(I64, int64_t)                                                                              \
    ROW(U64, uint64_t)                                                                             \
    ROW(F32, float)                                                                                \
    ROW(F64, double)

#define CODEC(NAME, type)                                                                          \
    static double value_of_##NAME(const void *bytes) {                                             \
        type value;                                                                                \
        memcpy(&value, bytes, sizeof value);                                                       \
        return (double)value;                                                                      \
    }                                                                                              \
    static void set_##NAME(void *bytes, double from) {                                             \
        const type value = (type)from;                                                             \
        memcpy(bytes, &value, sizeof value);                                                       \
    }
TYPES(CODEC)

#define ROW(NAME, type) [ELEMENT_##NAME] = {sizeof(type), value_of_##NAME, set_##NAME},
static const struct {
    size_t bytes;
    double (*value)(const void *bytes);
    void (*set)(void *bytes, double value);
} types[ELEMENTS] = {TYPES(ROW)};
#undef ROW

size_t element_type_bytes(enum element element) { return types[element].bytes; }

bool element_value(enum element element, const void *bytes, double *value) {
    if (!types[element].value) return false;
    *value = types[element].value(bytes);
    return true;
}

void element_set(enum element element, void *bytes, double value) {
    if (types[element].set) types[element].set(bytes, value);
}
