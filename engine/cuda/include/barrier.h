/* __syncthreads() in the kernel itself: a tiled kernel spends half its time at barriers.
 *
 * Read by C (the runtime) and C++ (the student's kernel). A thread that reaches a barrier hands
 * over to its neighbor in the block when that one waits at the barrier before, which is the rule:
 * the threads take turns from first to last up to one barrier and from last to first up to the
 * next. Compiled into the kernel, this saves only what the kernel still needs, where the compiler
 * finds it best. All else (first barrier, last thread to arrive, returned threads, warp operations)
 * is emulator_barrier's, in ../runtime/block.c.
 *
 * Each __syncthreads() of the text has a number of its own. An arrival adds it to a sum, in the
 * addition that counts the arrivals: so whether all have come to the same one costs nothing. */
#ifndef EMULATOR_BARRIER_H
#define EMULATOR_BARRIER_H
#include "vector_types.h"
#include <stddef.h>

/* Not under a sanitizer, which must be informed of every switch. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define EMULATOR_SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define EMULATOR_SANITIZED 1
#endif
#endif

/* A suspended thread. `base` is the register (rbx, x19) with which compilers find a frame's
 * variables where they cannot use the other two; an asm statement may not clobber it. */
struct emulator_context {
    void *stack, *frame, *base;
    const void *code;
};

#define EMULATOR_NO_BARRIER (~0ull)

struct emulator_thread {
    struct emulator_context context;
    struct uint3 index;
    unsigned linear;
    emulator_u64 barrier; /* the number of the one it waits at; or EMULATOR_NO_BARRIER */
    unsigned place;       /* of the last one that it has come to, as EMULATOR_PLACE has it */
} __attribute__((aligned(64)));

/* Which thread runs, and which is next. */
struct emulator_schedule {
    struct emulator_thread *current;
    ptrdiff_t step;       /* in bytes, from a thread to the neighbor that is next */
    emulator_u64 barrier; /* the number of the one that threads reach next */
    emulator_u64 arrived; /* the sum of all arrivals there so far, as EMULATOR_ARRIVAL has them */
};

/* What came of a barrier with predicates, and of an operation of the lanes of a warp. */
struct emulator_votes {
    unsigned arrived, yes; /* threads that took part; those whose predicate was not zero */
};
struct emulator_warp_values {
    emulator_u64 value[32]; /* what each lane brought */
    unsigned lanes;         /* which lanes took part */
};

/* An arrival: 1 in the bits that count, and above them a number of 12 bits for the place in the
 * text. It differs from place to place (of 4096), and does not grow in even steps, so that three
 * places are not taken for one that is between the others. */
#define EMULATOR_ARRIVALS 4095 /* the bits that count; a block has 1024 threads at most */
#define EMULATOR_PLACE(number) (((number) * (2 * (number) + 1)) & 4095)
#define EMULATOR_ARRIVAL(place) ((emulator_u64)(place) << 12 | 1)

#ifdef __cplusplus
extern "C" {
#endif
extern __thread struct emulator_schedule emulator_schedule;
void emulator_barrier(unsigned place);
#ifdef __cplusplus
}
#endif

/* What the kernel does itself, up to the label 1; it jumps to `otherwise` in all other cases.
 * Thread-local variables are addressed as an executable's own: an address in a register would have
 * to be saved like everything else, and everything would wait for it to come back (measured: a
 * third slower). The offsets are checked below. */
#if defined __x86_64__ && !defined EMULATOR_SANITIZED
#define EMULATOR_BARRIER(otherwise)                                                                \
    "    movq %%fs:emulator_schedule@tpoff, %%rax\n" /* from = schedule.current */                 \
    "    movq %%fs:emulator_schedule@tpoff+8, %%rcx\n"                                             \
    "    addq %%rax, %%rcx\n" /* to = from + schedule.step */                                      \
    "    movq %%fs:emulator_schedule@tpoff+16, %%rdx\n"                                            \
    "    cmpq %%rdx, 48(%%rcx)\n" /* unless to.barrier < schedule.barrier: */                      \
    "    jae " otherwise "\n"                                                                      \
    "    addq %[arrival], %%fs:emulator_schedule@tpoff+24\n" /* schedule.arrived += arrival */     \
    "    movq %%rcx, %%fs:emulator_schedule@tpoff\n"         /* schedule.current = to */           \
    "    movq %%rdx, 48(%%rax)\n"                            /* from.barrier = schedule.barrier */ \
    "    movl %[place], 56(%%rax)\n"                         /* from.place = place */              \
    "    movaps 32(%%rcx), %%xmm0\n"                         /* threadIdx = to.index */            \
    "    movaps %%xmm0, %%fs:threadIdx@tpoff\n"                                                    \
    "    leaq 1f(%%rip), %%rdx\n"                                                                  \
    "    movq %%rsp, (%%rax)\n" /* switch from from.context to to.context */                       \
    "    movq %%rbp, 8(%%rax)\n"                                                                   \
    "    movq %%rbx, 16(%%rax)\n"                                                                  \
    "    movq %%rdx, 24(%%rax)\n"                                                                  \
    "    movq (%%rcx), %%rsp\n"                                                                    \
    "    movq 8(%%rcx), %%rbp\n"                                                                   \
    "    movq 16(%%rcx), %%rbx\n"                                                                  \
    "    jmpq *24(%%rcx)\n"
#define EMULATOR_BARRIER_CALL /* below the red zone */                                             \
    "2:  movq %%rsp, %%r12\n"                                                                      \
    "    leaq -128(%%rsp), %%rsp\n"                                                                \
    "    andq $-16, %%rsp\n"                                                                       \
    "    movl %[place], %%edi\n"                                                                   \
    "    call emulator_barrier@PLT\n"                                                              \
    "    movq %%r12, %%rsp\n"
#define EMULATOR_BARRIER_END "1:\n"
#define EMULATOR_BARRIER_CLOBBERS                                                                  \
    "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",       \
        "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",   \
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "st", "st(1)", "st(2)", "st(3)", "st(4)",     \
        "st(5)", "st(6)", "st(7)", EMULATOR_AVX512_CLOBBERS "cc", "memory"
#ifdef __AVX512F__
#define EMULATOR_AVX512_CLOBBERS                                                                   \
    "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",      \
        "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5",  \
        "k6", "k7",
#else
#define EMULATOR_AVX512_CLOBBERS
#endif

#elif defined __aarch64__ && !defined EMULATOR_SANITIZED
#define EMULATOR_BARRIER(otherwise)                                                                \
    "    mrs x0, tpidr_el0\n"                                                                      \
    "    add x1, x0, #:tprel_hi12:threadIdx\n"                                                     \
    "    add x0, x0, #:tprel_hi12:emulator_schedule\n"                                             \
    "    add x1, x1, #:tprel_lo12_nc:threadIdx\n"                                                  \
    "    add x0, x0, #:tprel_lo12_nc:emulator_schedule\n"                                          \
    "    ldp x2, x3, [x0]\n" /* from = schedule.current */                                         \
    "    ldr x4, [x0, #16]\n"                                                                      \
    "    add x3, x2, x3\n" /* to = from + schedule.step */                                         \
    "    ldr x5, [x3, #48]\n"                                                                      \
    "    cmp x5, x4\n" /* unless to.barrier < schedule.barrier: */                                 \
    "    b.hs " otherwise "\n"                                                                     \
    "    ldr x5, [x0, #24]\n" /* schedule.arrived += arrival */                                    \
    "    add x5, x5, #1\n"                                                                         \
    "    add x5, x5, %[place], lsl #12\n"                                                          \
    "    str x5, [x0, #24]\n"                                                                      \
    "    str x3, [x0]\n"      /* schedule.current = to */                                          \
    "    str x4, [x2, #48]\n" /* from.barrier = schedule.barrier */                                \
    "    mov w5, %[place]\n"  /* from.place = place */                                             \
    "    str w5, [x2, #56]\n"                                                                      \
    "    ldr q0, [x3, #32]\n" /* threadIdx = to.index */                                           \
    "    str q0, [x1]\n"                                                                           \
    "    mov x4, sp\n" /* switch from from.context to to.context */                                \
    "    adr x5, 1f\n"                                                                             \
    "    stp x4, x29, [x2]\n"                                                                      \
    "    stp x19, x5, [x2, #16]\n"                                                                 \
    "    ldp x4, x29, [x3]\n"                                                                      \
    "    ldp x19, x16, [x3, #16]\n"                                                                \
    "    mov sp, x4\n"                                                                             \
    "    br x16\n"
#define EMULATOR_BARRIER_CALL "2:  mov w0, %[place]\n    bl emulator_barrier\n"
#define EMULATOR_BARRIER_END "1:  hint #36\n" /* bti j: a branch may end here */
#define EMULATOR_BARRIER_CLOBBERS                                                                  \
    "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", \
        "x15", "x16", "x17", "x18", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", \
        "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12",    \
        "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", \
        "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory"
#endif

#if defined __cplusplus && defined EMULATOR_BARRIER
static_assert(offsetof(struct emulator_schedule, current) == 0 &&
                  offsetof(struct emulator_schedule, step) == 8 &&
                  offsetof(struct emulator_schedule, barrier) == 16 &&
                  offsetof(struct emulator_schedule, arrived) == 24 &&
                  offsetof(struct emulator_thread, context) == 0 &&
                  offsetof(struct emulator_thread, index) == 32 &&
                  offsetof(struct emulator_thread, barrier) == 48 &&
                  offsetof(struct emulator_thread, place) == 56,
              "EMULATOR_BARRIER knows other offsets");

/* All in one asm statement, because threadIdx is a constant to the compiler, which might else read
 * it between its change and the switch. The call is left to the compiler where that gives better
 * code: gcc, which counts on a call in a loop, computes less in advance that then has to be
 * saved; clang moves the kernel's arithmetic across a branch, and has to save more. */
template <unsigned number>
static inline __attribute__((always_inline)) void emulator_barrier_here(void) {
    constexpr unsigned place = EMULATOR_PLACE(number);
#ifdef __clang__
    __asm__ volatile(EMULATOR_BARRIER("2f") EMULATOR_BARRIER_CALL EMULATOR_BARRIER_END
                     :
                     : [arrival] "i"(EMULATOR_ARRIVAL(place)), [place] "i"(place)
                     : EMULATOR_BARRIER_CLOBBERS);
#else
    __asm__ goto(EMULATOR_BARRIER("%l[otherwise]") EMULATOR_BARRIER_END
                 :
                 : [arrival] "i"(EMULATOR_ARRIVAL(place)), [place] "i"(place)
                 : EMULATOR_BARRIER_CLOBBERS
                 : otherwise);
    return;
otherwise:
    emulator_barrier(place);
#endif
}
#elif defined __cplusplus
template <unsigned number>
static inline __attribute__((always_inline)) void emulator_barrier_here(void) {
    emulator_barrier(EMULATOR_PLACE(number));
}
#endif
#endif
