/* The names of the kinds of findings, in JSON and in the heads of instructor/faulty/. */
#include "check.h"

static const char *const kind_names[FINDING_KINDS] = {
    [FINDING_NONE] = "none",
    [FINDING_SHARED_RACE] = "shared-race",
    [FINDING_GLOBAL_RACE] = "global-race",
    [FINDING_DIVERGENT_BARRIER] = "divergent-barrier",
    [FINDING_EARLY_RETURN] = "early-return",
    [FINDING_OUT_OF_BOUNDS] = "out-of-bounds",
    [FINDING_SHARED_OUT_OF_BOUNDS] = "shared-out-of-bounds",
    [FINDING_LOCAL_OUT_OF_BOUNDS] = "local-out-of-bounds",
    [FINDING_UNINITIALISED_SHARED] = "uninitialised-shared",
    [FINDING_UNINITIALISED_GLOBAL] = "uninitialised-global",
    [FINDING_INPUT_WRITTEN] = "input-written",
    [FINDING_FREED_MEMORY] = "freed-memory",
    [FINDING_DEVICE_POINTER_ON_HOST] = "device-pointer-on-host",
    [FINDING_DEVICE_VARIABLE_ON_HOST] = "device-variable-on-host",
    [FINDING_HOST_POINTER_ON_DEVICE] = "host-pointer-on-device",
    [FINDING_MISALIGNED] = "misaligned",
    [FINDING_BAD_LAUNCH] = "bad-launch",
    [FINDING_FAILED_CALL] = "failed-call",
    [FINDING_NO_LAUNCH] = "no-launch",
    [FINDING_LEAK] = "leak",
    [FINDING_ENDLESS] = "endless",
    [FINDING_TIME_LIMIT] = "time-limit",
    [FINDING_DEADLOCK] = "deadlock",
    [FINDING_KERNEL_FAULT] = "kernel-fault",
    [FINDING_HOST_FAULT] = "host-fault",
    [FINDING_TAMPERING] = "tampering",
    [FINDING_UNWRITTEN] = "unwritten",
    [FINDING_WRONG_RESULT] = "wrong-result",
    [FINDING_NOT_FLOAT32] = "not-float32",
};

const char *finding_kind_name(enum finding_kind kind) {
    return (unsigned)kind < FINDING_KINDS ? kind_names[kind] : NULL;
}
