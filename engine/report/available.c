/* How much memory there is: device.h. */
#define _GNU_SOURCE /* PATH_MAX */
#include "device.h"
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The number behind `name`, with a blank or a colon in between, in a file of such lines; with an
 * empty name, that on the first line. "max" is no number: no limit. */
static bool read_number(const char *path, const char *name, uint64_t *value) {
    FILE *file = fopen(path, "r");
    const size_t length = strlen(name);
    char line[256];
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file))
        found = strncmp(line, name, length) == 0 && (!length || memchr(" :", line[length], 2)) &&
                sscanf(line + length + (length > 0), "%" SCNu64, value) == 1;
    if (file) fclose(file);
    return found;
}

/* One version of control groups: where it is mounted and what its files are called. */
struct cgroup_files {
    const char *mount, *limit, *usage, *cache;
};

static const struct cgroup_files cgroup_v2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
                                              "inactive_file"};
static const struct cgroup_files cgroup_v1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                              "memory.usage_in_bytes", "total_inactive_file"};

static void lower(size_t *bytes, uint64_t to) {
    if (to < *bytes) *bytes = (size_t)to;
}

/* What one group allows: its limit; and that less its use, but file cache makes room when needed.
 */
static void limit_by_group(const struct cgroup_files *files, const char *group, size_t *left,
                           size_t *all) {
    char path[PATH_MAX + 64];
    uint64_t limit, used, cache = 0;
    snprintf(path, sizeof path, "%s%s/%s", files->mount, group, files->limit);
    if (!read_number(path, "", &limit)) return;
    snprintf(path, sizeof path, "%s%s/%s", files->mount, group, files->usage);
    if (!read_number(path, "", &used)) return;
    snprintf(path, sizeof path, "%s%s/memory.stat", files->mount, group);
    read_number(path, files->cache, &cache);
    used -= cache < used ? cache : used;
    lower(left, limit > used ? limit - used : 0);
    lower(all, limit);
}

/* What this process's group and those around it allow. */
static void limit_by_groups(size_t *left, size_t *all) {
    FILE *file = fopen("/proc/self/cgroup", "r");
    if (!file) return;
    char line[PATH_MAX];
    while (fgets(line, sizeof line, file)) { /* "0::/group" (v2) or "9:memory:/group" (v1) */
        line[strcspn(line, "\n")] = '\0';
        char *group = strchr(line, '/');
        if (!group) continue;
        bool v2 = strncmp(line, "0::", 3) == 0;
        group[-1] = '\0';
        if (!v2 && !strstr(line, "memory")) continue;
        if (strcmp(group, "/") == 0) group[0] = '\0';
        for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
            *end = '\0';
            limit_by_group(v2 ? &cgroup_v2 : &cgroup_v1, group, left, all);
        }
    }
    fclose(file);
}

size_t memory_available(size_t *all) {
    size_t left = SIZE_MAX, total = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    uint64_t kilobytes;
    if (read_number("/proc/meminfo", "MemAvailable", &kilobytes)) lower(&left, kilobytes * 1024);
    limit_by_groups(&left, &total);
    lower(&left, total);
    if (all) *all = total;
    return left;
}
