/* Tests of engine/watch/shadow/array.c and engine/report/element_type.c: shapes of arrays of one to
 * three dimensions, and what the bytes of an element say. */
#include "../../engine/report/element_type.c"
#include "../../engine/watch/shadow/array.c"

#include "../check.h"

static struct engine_array array_of(enum element element, int dimensions, int64_t a, int64_t b,
                                    int64_t c) {
    return (struct engine_array){
        .element = element, .dimensions = dimensions, .extent = {a, b, c}, .phase_axis = -1};
}

TEST(an_array_has_rows_of_its_last_extent) {
    const struct engine_array line = array_of(ELEMENT_U8, 1, 7, 0, 0),
                              matrix = array_of(ELEMENT_F32, 2, 34, 20, 0),
                              cube = array_of(ELEMENT_F64, 3, 2, 3, 5);
    CHECK_INT((long long)array_bytes(&line), 7);
    CHECK_INT(array_rows(&line), 1);
    CHECK_INT(array_columns(&line), 7);
    CHECK_INT((long long)array_bytes(&matrix), 34 * 20 * 4);
    CHECK_INT(array_rows(&matrix), 34);
    CHECK_INT(array_columns(&matrix), 20);
    CHECK_INT((long long)array_bytes(&cube), 2 * 3 * 5 * 8);
    CHECK_INT(array_rows(&cube), 6);
    CHECK_INT(array_columns(&cube), 5);
    CHECK_INT(array_stride(&cube, 0), 15);
    CHECK_INT(array_stride(&cube, 2), 1);
}

TEST(an_element_of_any_type_has_the_size_that_the_array_says) {
    struct engine_array array = array_of(ELEMENT_BYTES, 1, 10, 0, 0);
    array.element_bytes = 12;
    CHECK_INT((long long)array_bytes(&array), 120);
}

TEST(an_element_has_an_index_for_each_dimension) {
    const struct engine_array cube = array_of(ELEMENT_I32, 3, 2, 3, 5);
    int64_t index[ENGINE_DIMENSIONS];
    array_index(&cube, 1 * 15 + 2 * 5 + 4, index);
    CHECK_INT(index[0], 1);
    CHECK_INT(index[1], 2);
    CHECK_INT(index[2], 4);
}

TEST(of_an_element_outside_the_first_index_is_outside) {
    const struct engine_array matrix = array_of(ELEMENT_F32, 2, 34, 20, 0);
    int64_t index[ENGINE_DIMENSIONS];
    array_index(&matrix, 34 * 20 + 3, index);
    CHECK_INT(index[0], 34);
    CHECK_INT(index[1], 3);
    array_index(&matrix, -1, index);
    CHECK_INT(index[0], -1);
    CHECK_INT(index[1], 19);
    array_index(&matrix, -20, index);
    CHECK_INT(index[0], -1);
    CHECK_INT(index[1], 0);
}

#define VALUE_IS(element, type, number)                                                            \
    do {                                                                                           \
        const type is = (type)(number);                                                            \
        double value = 0;                                                                          \
        CHECK_INT((long long)element_type_bytes(element), (long long)sizeof is);                   \
        CHECK(element_value(element, &is, &value) && value == (double)is);                         \
    } while (0)

TEST(the_bytes_of_an_element_are_its_value) {
    double value = 7;
    VALUE_IS(ELEMENT_I8, int8_t, -3);
    VALUE_IS(ELEMENT_U8, uint8_t, 253);
    VALUE_IS(ELEMENT_I16, int16_t, -300);
    VALUE_IS(ELEMENT_U16, uint16_t, 65000);
    VALUE_IS(ELEMENT_I32, int32_t, -70000);
    VALUE_IS(ELEMENT_U32, uint32_t, 4000000000u);
    VALUE_IS(ELEMENT_I64, int64_t, -5000000000);
    VALUE_IS(ELEMENT_U64, uint64_t, 1ull << 63);
    VALUE_IS(ELEMENT_F32, float, 1.25f);
    VALUE_IS(ELEMENT_F64, double, 1e300);
    CHECK(!element_value(ELEMENT_BYTES, "", &value) && value == 7);
    CHECK_STRING(element_type_name(ELEMENT_F32), "f32");
    CHECK_STRING(element_type_name(ELEMENT_BYTES), "bytes");
}
