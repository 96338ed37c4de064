/* Tests of engine/report/element_type.c: what the bytes of an element say. */
#include "../../engine/report/element_type.c"

#include "../check.h"

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
}
