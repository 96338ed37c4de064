/* Plans: see recording.h. An honest recording of a submission that can be timed passes all checks;
 * the reasons are written for students whose submissions cannot be timed. */
#include "../../engine/host/host.h"
#include "recording.h"
#include <inttypes.h>
#include <string.h>

struct planner {
    struct plan *plan;
    struct judgement *judgement;
    uint64_t scratch, written;
};

static const char forged[] = "the recording was tampered with";

#define refuse(p, ...) judge((p)->judgement, STATE_REFUSED, __VA_ARGS__)

/* ---- buffers -------------------------------------------------------------------------------- */

static bool is_buffer(const struct planner *p, int buffer) {
    return buffer >= 0 && buffer < p->plan->buffer_count;
}

static bool add_buffer(struct planner *p, uint64_t bytes) {
    p->plan->bytes[p->plan->buffer_count++] = bytes;
    return true;
}

static bool plan_allocate(struct planner *p, const struct step *step) {
    if (step->to.buffer != p->plan->buffer_count || step->width == 0)
        return refuse(p, "%s: it allocates no new buffer", forged);
    if (p->plan->buffer_count == PLAN_BUFFERS)
        return refuse(p, "it allocates more than %d times in one call",
                      PLAN_BUFFERS - lab_arrays(&lab));
    if (step->width > PLAN_SCRATCH || p->scratch + step->width > PLAN_SCRATCH)
        return refuse(p, "it allocates more than %" PRIu64 " GiB in one call", PLAN_SCRATCH >> 30);
    p->scratch += step->width;
    return add_buffer(p, step->width);
}

/* Whether height rows of width bytes lie in the buffer. */
static bool is_inside(const struct planner *p, const struct area *area, uint64_t width,
                      uint64_t height) {
    if (!is_buffer(p, area->buffer)) return false;
    const uint64_t bytes = p->plan->bytes[area->buffer];
    if (width == 0 || height == 0 || width > bytes || area->offset > bytes - width) return false;
    if (height == 1) return true;
    return area->pitch >= width && (bytes - width - area->offset) / area->pitch >= height - 1;
}

static bool takes_time(struct planner *p, const struct step *step) {
    p->plan->steps[p->plan->count++] = step;
    return true;
}

static bool plan_set(struct planner *p, const struct step *step) {
    if (!is_inside(p, &step->to, step->width, step->height))
        return refuse(p, "a cudaMemset does not stay inside of one buffer");
    return takes_time(p, step);
}

static bool plan_copy(struct planner *p, const struct step *step) {
    if (!is_inside(p, &step->to, step->width, step->height) ||
        !is_inside(p, &step->from, step->width, step->height))
        return refuse(p, "a copy on the device does not stay inside of one buffer");
    return takes_time(p, step);
}

/* ---- data ----------------------------------------------------------------------------------- */

static bool are_pointers_known(struct planner *p, const struct step *step) {
    for (uint32_t i = 0; i < step_pointer_count(step); i++) {
        const struct pointer *pointer = &step_pointers(p->plan->recording, step)[i];
        if (pointer->at % 8 || !is_buffer(p, pointer->buffer) ||
            pointer->offset > p->plan->bytes[pointer->buffer])
            return refuse(p, "%s", PLAN_STRAY_ADDRESS);
    }
    return true;
}

/* Into a buffer, or into a variable: replay.c checks that it fits there, where the kernels are. */
static bool plan_data(struct planner *p, const struct step *step) {
    p->written += step->data.bytes;
    if (p->written > PLAN_WRITTEN)
        return refuse(p, "it copies more than %d KB from the host to the device in one call",
                      PLAN_WRITTEN >> 10);
    return are_pointers_known(p, step) && takes_time(p, step);
}

static bool plan_write(struct planner *p, const struct step *step) {
    if (!is_inside(p, &step->to, step->data.bytes, 1))
        return refuse(p, "a copy from the host does not stay inside of one buffer");
    return plan_data(p, step);
}

/* ---- launches ------------------------------------------------------------------------------- */

/* -1: judged. */
static int kernel_named(struct planner *p, const char *name) {
    struct plan *plan = p->plan;
    for (int i = 0; i < plan->kernel_count; i++)
        if (strcmp(plan->kernels[i].name, name) == 0) return i;
    if (plan->kernel_count == PLAN_KERNELS) {
        refuse(p, "it uses more than %d different kernels in one call", PLAN_KERNELS);
        return -1;
    }
    plan->kernels[plan->kernel_count] = (struct kernel){.name = name, .carveout = -1};
    return plan->kernel_count++;
}

static bool plan_carveout(struct planner *p, const struct step *step) {
    const int kernel = kernel_named(p, step_name(p->plan->recording, step));
    if (kernel < 0) return false;
    p->plan->kernels[kernel].carveout = (int)step->value;
    return true;
}

/* Grid, block and the number of parameters are checked by the driver and in replay.c. */
static bool plan_launch(struct planner *p, const struct step *step) {
    const int kernel = kernel_named(p, step_name(p->plan->recording, step));
    if (kernel < 0) return false;
    if (p->plan->launch_count == PLAN_LAUNCHES)
        return refuse(p, "it launches more than %d kernels in one call", PLAN_LAUNCHES);
    if (!are_pointers_known(p, step)) return false;
    struct kernel *k = &p->plan->kernels[kernel];
    if (step->shared > k->shared) k->shared = step->shared;
    p->plan->launch_count++;
    p->plan->kernel_of[p->plan->count] = kernel;
    return takes_time(p, step);
}

/* ---- all of it ------------------------------------------------------------------------------ */

typedef bool step_planner(struct planner *, const struct step *);
static step_planner *const plan_step[STEP_KINDS] = {
    [STEP_ALLOCATE] = plan_allocate, [STEP_SET] = plan_set,       [STEP_COPY] = plan_copy,
    [STEP_WRITE] = plan_write,       [STEP_VARIABLE] = plan_data, [STEP_CARVEOUT] = plan_carveout,
    [STEP_LAUNCH] = plan_launch,
};

bool plan_make(const struct recording *recording, const struct shape *shape, struct plan *plan,
               struct judgement *judgement) {
    const struct host_layout layout = host_layout_of(&lab, shape, false);
    struct planner p = {.plan = plan, .judgement = judgement};
    memset(plan, 0, sizeof *plan);
    plan->recording = recording;
    if (recording->end == RECORDING_STOPPED)
        return judge(judgement, (enum state)recording->state, "%s", recording->reason);
    if (recording->end == RECORDING_BROKEN)
        return refuse(&p, "%s ended the program instead of returning", lab.wrapper);
    if (memcmp(&recording->shape, shape, sizeof *shape) != 0)
        return refuse(&p, "%s: it is of another shape", forged);
    for (int i = 0; i < layout.arrays; i++) add_buffer(&p, layout.bytes[i]);
    for (uint32_t i = 0; i < recording->count; i++)
        if (!plan_step[recording->steps[i].kind](&p, &recording->steps[i])) return false;
    judgement->launches = plan->launch_count;
    return plan->launch_count > 0 || refuse(&p, "it launches no kernel: nothing can be timed");
}
