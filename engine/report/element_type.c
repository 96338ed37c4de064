/* Element types: a row for each, with what reads and writes one. See element_type.h. */
#include "element_type.h"
#include <stdint.h>
#include <string.h>

#define TYPES(ROW)                                                                                 \
    ROW(I8, i8, int8_t)                                                                            \
    ROW(U8, u8, uint8_t)                                                                           \
    ROW(I16, i16, int16_t)                                                                         \
    ROW(U16, u16, uint16_t)                                                                        \
    ROW(I32, i32, int32_t)                                                                         \
    ROW(U32, u32, uint32_t)                                                                        \
    ROW(I64, i64, int64_t)                                                                         \
    ROW(U64, u64, uint64_t)                                                                        \
    ROW(F32, f32, float)                                                                           \
    ROW(F64, f64, double)

#define CODEC(NAME, name, type)                                                                    \
    static double value_of_##name(const void *bytes) {                                             \
        type value;                                                                                \
        memcpy(&value, bytes, sizeof value);                                                       \
        return (double)value;                                                                      \
    }                                                                                              \
    static void set_##name(void *bytes, double from) {                                             \
        const type value = (type)from;                                                             \
        memcpy(bytes, &value, sizeof value);                                                       \
    }
TYPES(CODEC)

#define ROW(NAME, name, type) [ELEMENT_##NAME] = {#name, sizeof(type), value_of_##name, set_##name},
static const struct {
    const char *name;
    size_t bytes;
    double (*value)(const void *bytes);
    void (*set)(void *bytes, double value);
} types[ELEMENTS] = {[ELEMENT_BYTES] = {"bytes", 0, NULL, NULL}, TYPES(ROW)};
#undef ROW

const char *element_type_name(enum element element) { return types[element].name; }

size_t element_type_bytes(enum element element) { return types[element].bytes; }

bool element_value(enum element element, const void *bytes, double *value) {
    if (!types[element].value) return false;
    *value = types[element].value(bytes);
    return true;
}

void element_set(enum element element, void *bytes, double value) {
    if (types[element].set) types[element].set(bytes, value);
}
