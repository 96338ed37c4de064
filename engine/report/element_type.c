/* Element types: a row for each, with its own decoder. See element_type.h. */
#include "element_type.h"
#include <stdint.h>
#include <string.h>

#define DECODER(name, type)                                                                        \
    static double name(const void *bytes) {                                                        \
        type value;                                                                                \
        memcpy(&value, bytes, sizeof value);                                                       \
        return (double)value;                                                                      \
    }
DECODER(value_of_i8, int8_t)
DECODER(value_of_u8, uint8_t)
DECODER(value_of_i16, int16_t)
DECODER(value_of_u16, uint16_t)
DECODER(value_of_i32, int32_t)
DECODER(value_of_u32, uint32_t)
DECODER(value_of_i64, int64_t)
DECODER(value_of_u64, uint64_t)
DECODER(value_of_f32, float)
DECODER(value_of_f64, double)

static const struct {
    const char *name;
    size_t bytes;
    double (*value)(const void *bytes);
} types[ELEMENTS] = {
    [ELEMENT_BYTES] = {"bytes", 0, NULL},
    [ELEMENT_I8] = {"i8", sizeof(int8_t), value_of_i8},
    [ELEMENT_U8] = {"u8", sizeof(uint8_t), value_of_u8},
    [ELEMENT_I16] = {"i16", sizeof(int16_t), value_of_i16},
    [ELEMENT_U16] = {"u16", sizeof(uint16_t), value_of_u16},
    [ELEMENT_I32] = {"i32", sizeof(int32_t), value_of_i32},
    [ELEMENT_U32] = {"u32", sizeof(uint32_t), value_of_u32},
    [ELEMENT_I64] = {"i64", sizeof(int64_t), value_of_i64},
    [ELEMENT_U64] = {"u64", sizeof(uint64_t), value_of_u64},
    [ELEMENT_F32] = {"f32", sizeof(float), value_of_f32},
    [ELEMENT_F64] = {"f64", sizeof(double), value_of_f64},
};

const char *element_type_name(enum element element) { return types[element].name; }

size_t element_type_bytes(enum element element) { return types[element].bytes; }

bool element_value(enum element element, const void *bytes, double *value) {
    if (!types[element].value) return false;
    *value = types[element].value(bytes);
    return true;
}
