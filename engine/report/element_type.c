/* Element types: a row for each, with what reads and writes one. See element_type.h. */
#include "element_type.h"
#include <stdint.h>
#include <string.h>

#define CODEC(name, type)                                                                          \
    static double value_of_##name(const void *bytes) {                                             \
        type value;                                                                                \
        memcpy(&value, bytes, sizeof value);                                                       \
        return (double)value;                                                                      \
    }                                                                                              \
    static void set_##name(void *bytes, double from) {                                             \
        const type value = (type)from;                                                             \
        memcpy(bytes, &value, sizeof value);                                                       \
    }
CODEC(i8, int8_t)
CODEC(u8, uint8_t)
CODEC(i16, int16_t)
CODEC(u16, uint16_t)
CODEC(i32, int32_t)
CODEC(u32, uint32_t)
CODEC(i64, int64_t)
CODEC(u64, uint64_t)
CODEC(f32, float)
CODEC(f64, double)

static const struct {
    const char *name;
    size_t bytes;
    double (*value)(const void *bytes);
    void (*set)(void *bytes, double value);
} types[ELEMENTS] = {
    [ELEMENT_BYTES] = {"bytes", 0, NULL, NULL},
    [ELEMENT_I8] = {"i8", sizeof(int8_t), value_of_i8, set_i8},
    [ELEMENT_U8] = {"u8", sizeof(uint8_t), value_of_u8, set_u8},
    [ELEMENT_I16] = {"i16", sizeof(int16_t), value_of_i16, set_i16},
    [ELEMENT_U16] = {"u16", sizeof(uint16_t), value_of_u16, set_u16},
    [ELEMENT_I32] = {"i32", sizeof(int32_t), value_of_i32, set_i32},
    [ELEMENT_U32] = {"u32", sizeof(uint32_t), value_of_u32, set_u32},
    [ELEMENT_I64] = {"i64", sizeof(int64_t), value_of_i64, set_i64},
    [ELEMENT_U64] = {"u64", sizeof(uint64_t), value_of_u64, set_u64},
    [ELEMENT_F32] = {"f32", sizeof(float), value_of_f32, set_f32},
    [ELEMENT_F64] = {"f64", sizeof(double), value_of_f64, set_f64},
};

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
