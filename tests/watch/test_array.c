/* Tests of engine/watch/shadow/array.h and engine/report/element_type.c: shapes of arrays of one to
 * three dimensions, and what the bytes of an element say. */
#include "../../engine/report/element_type.c"
#include "../../engine/watch/shadow/array.h"

#include "../check.h"

static struct engine_array array_of(enum element element, int dimensions, int64_t a, int64_t b,
                                    int64_t c) {
    return (struct engine_array){
        .element = element, .dimensions = dimensions, .extent = {a, b, c}, .phase_axis = -1};
}

TEST(an_array_has_rows_of_its_last_extent) {
    struct engine_array line = array_of(ELEMENT_U8, 1, 7, 0, 0),
                        matrix = array_of(ELEMENT_F32, 2, 34, 20, 0),
                        cube = array_of(ELEMENT_F64, 3, 2, 3, 5),
                        any = array_of(ELEMENT_BYTES, 1, 10, 0, 0);
    any.element_bytes = 12;
    CHECK(array_bytes(&line) == 7 && array_rows(&line) == 1 && array_columns(&line) == 7);
    CHECK(array_bytes(&matrix) == 34 * 20 * 4 && array_rows(&matrix) == 34 &&
          array_columns(&matrix) == 20);
    CHECK(array_bytes(&cube) == 2 * 3 * 5 * 8 && array_rows(&cube) == 6 &&
          array_columns(&cube) == 5);
    CHECK(array_stride(&cube, 0) == 15 && array_stride(&cube, 2) == 1);
    CHECK(array_bytes(&any) == 120);
}

TEST(an_element_has_an_index_for_each_dimension_of_which_the_first_may_be_outside) {
    static const struct {
        int64_t element, index[2];
    } cases[] = {{34 * 20 + 3, {34, 3}}, {-1, {-1, 19}}, {-20, {-1, 0}}};
    const struct engine_array cube = array_of(ELEMENT_I32, 3, 2, 3, 5),
                              matrix = array_of(ELEMENT_F32, 2, 34, 20, 0);
    int64_t index[ENGINE_DIMENSIONS];
    array_index(&cube, 1 * 15 + 2 * 5 + 4, index);
    CHECK(index[0] == 1 && index[1] == 2 && index[2] == 4);
    for (int i = 0; i < 3; i++) {
        array_index(&matrix, cases[i].element, index);
        CHECK(memcmp(index, cases[i].index, sizeof cases[i].index) == 0);
    }
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
