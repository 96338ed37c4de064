/* jail: runs one program under limits and reports how it ended. Trusted; no code of a student's is
 * ever loaded into it.
 *
 *     jail --report 5 --wall 20 --cpu 10 ... -- program arguments
 *
 * In the bubblewrap sandbox (sandbox.py) it is the first program inside; without bubblewrap it
 * is the whole sandbox. The program becomes its child, with the same environment, with resource
 * limits, without privileges and with a filter of system calls. The jail itself waits, watches how
 * much memory all of it uses and how long it takes, kills what is left of it at the end, and writes
 * one line to the report descriptor, which the child does not have:
 *
 *     ended exit 3 cpu 0.125 asleep 0.000 peak 1048576 limit none
 *     unloadable Cannot allocate memory       the system cannot start this program
 *     trouble chdir: No such file ...         the jail has failed
 *
 * A child of another uid (--uid, for which the jail has to be root) can neither signal nor look
 * into the jail. One of the same uid cannot either: the filter lets it signal only itself, and the
 * jail is not dumpable, which closes /proc/PID/mem and /proc/PID/fd of it.
 *
 * The order below: options, the child's limits, its files, its filter, watching, ending, main. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { JAIL_OK = 0, JAIL_USAGE = 2, JAIL_TROUBLE = 3 };
enum { MAX_ITEMS = 128 }; /* of a list */

/* How often memory and sleep are looked at, on average; a program touches at most some hundred
 * megabytes in that time. Never at even intervals, or it could sleep between two looks. */
static const unsigned WATCH_NANOSECONDS = 20 * 1000 * 1000;

/* ---- Options --------------------------------------------------------------------------------- */

struct list {
    const char *items[MAX_ITEMS];
    int count;
};

struct options {
    double report, uid; /* uid: -1: the jail's own */
    double wall, time;  /* seconds; time: of the processor, and asleep */
    double cpu, address, resident, processes, file;
    double gpu; /* not 0: allow what CUDA's driver needs */
    const char *directory;
    const char *counted; /* a file system in memory, what is written to which is memory in use */
    struct list passed;  /* descriptors that the program gets beside 0, 1 and 2 */
    struct list seen;    /* all that may be read, and ... */
    struct list changed; /* ... that may be written, too; none of either: anything */
    char **program;
};

static _Noreturn void usage(const char *what) {
    fprintf(stderr, "jail: %s\n", what);
    exit(JAIL_USAGE);
}

static double number(const char *text) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= 0 && value < 1e18)) usage("bad number");
    return value;
}

static void read_options(struct options *o, int argc, char **argv) {
    const struct {
        const char *name;
        double *number;
        const char **text;
        struct list *list;
    } known[] = {{"--report", .number = &o->report},
                 {"--uid", .number = &o->uid},
                 {"--wall", .number = &o->wall},
                 {"--time", .number = &o->time},
                 {"--cpu", .number = &o->cpu},
                 {"--gpu", .number = &o->gpu},
                 {"--address", .number = &o->address},
                 {"--resident", .number = &o->resident},
                 {"--processes", .number = &o->processes},
                 {"--file", .number = &o->file},
                 {"--directory", .text = &o->directory},
                 {"--count", .text = &o->counted},
                 {"--pass", .list = &o->passed},
                 {"--see", .list = &o->seen},
                 {"--change", .list = &o->changed},
                 {NULL}};
    *o = (struct options){.report = -1, .uid = -1};
    int i = 1;
    for (; i + 1 < argc && strcmp(argv[i], "--") != 0; i += 2) {
        size_t k = 0;
        while (known[k].name && strcmp(argv[i], known[k].name) != 0) k++;
        struct list *list = known[k].list;
        if (!known[k].name || (list && list->count == MAX_ITEMS)) usage(argv[i]);
        if (known[k].number) *known[k].number = number(argv[i + 1]);
        if (known[k].text) *known[k].text = argv[i + 1];
        if (list) list->items[list->count++] = argv[i + 1];
    }
    o->program = argv + i + 1;
    if (i + 1 >= argc || o->report < 3) usage("jail --report FD [limits] -- program ...");
}

/* ---- The child's limits ---------------------------------------------------------------------- */

/* In the child, before it executes the program: report to the jail why it cannot, and end. */
static int trouble_pipe;

static _Noreturn void child_trouble(const char *what, const char *detail) {
    dprintf(trouble_pipe, "trouble %s: %s", what, detail);
    _exit(JAIL_TROUBLE);
}

static void limit(int resource, rlim_t soft, rlim_t hard, const char *name) {
    struct rlimit now;
    if (getrlimit(resource, &now) != 0) child_trouble(name, strerror(errno));
    if (hard > now.rlim_max) hard = now.rlim_max; /* a stricter one outside stays */
    if (soft > hard) soft = hard;
    if (setrlimit(resource, &(struct rlimit){soft, hard}) != 0)
        child_trouble(name, strerror(errno));
}

static void set_limits(const struct options *o) {
    enum { DESCRIPTORS = 256, STACK = 8 << 20, LARGEST_STACK = 64 << 20 };
    /* At the soft limit comes SIGXCPU, which a program may ignore; a second later, SIGKILL. */
    const rlim_t cpu = (rlim_t)o->cpu, address = (rlim_t)o->address, file = (rlim_t)o->file,
                 processes = (rlim_t)o->processes;
    if (cpu) limit(RLIMIT_CPU, cpu, cpu + 1, "RLIMIT_CPU");
    if (address) limit(RLIMIT_AS, address, address, "RLIMIT_AS");
    if (processes) limit(RLIMIT_NPROC, processes, processes, "RLIMIT_NPROC");
    limit(RLIMIT_FSIZE, file, file, "RLIMIT_FSIZE");
    limit(RLIMIT_NOFILE, DESCRIPTORS, DESCRIPTORS, "RLIMIT_NOFILE");
    limit(RLIMIT_STACK, STACK, LARGEST_STACK, "RLIMIT_STACK"); /* gcc raises its own to 64 MB */
    limit(RLIMIT_CORE, 0, 0, "RLIMIT_CORE");
    limit(RLIMIT_MSGQUEUE, 0, 0, "RLIMIT_MSGQUEUE");
    limit(RLIMIT_MEMLOCK, 0, 0, "RLIMIT_MEMLOCK");
}

/* The program gets 0, 1, 2 and what is passed; all else closes when it is executed. */
static void close_others_at_exec(const struct options *o) {
    DIR *descriptors = opendir("/proc/self/fd");
    if (!descriptors) child_trouble("/proc/self/fd", strerror(errno));
    for (struct dirent *e; (e = readdir(descriptors));) {
        const int fd = atoi(e->d_name);
        bool wanted = fd <= STDERR_FILENO;
        for (int i = 0; i < o->passed.count; i++) wanted = wanted || atoi(o->passed.items[i]) == fd;
        if (!wanted) fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    closedir(descriptors);
}

static void become(long uid) {
    if (uid < 0) return;
    gid_t group = (gid_t)uid;
    if (setgroups(0, NULL) != 0 || setresgid(group, group, group) != 0 ||
        setresuid((uid_t)uid, (uid_t)uid, (uid_t)uid) != 0)
        child_trouble("changing to another uid", strerror(errno));
    if (setuid(0) == 0) child_trouble("changing to another uid", "it can be undone");
}

/* ---- The child's files ----------------------------------------------------------------------- */

/* Landlock, of Linux 5.13 and newer; as linux/landlock.h, which older systems lack. */
enum { NR_landlock_create_ruleset = 444, NR_landlock_add_rule, NR_landlock_restrict_self };
enum { LANDLOCK_VERSION = 1, LANDLOCK_PATH_BENEATH = 1 };
enum { LANDLOCK_EXECUTE = 1 << 0, LANDLOCK_WRITE = 1 << 1 };
enum { LANDLOCK_READ = 1 << 2, LANDLOCK_READ_DIRECTORY = 1 << 3 };
enum { LANDLOCK_SINCE_1 = (1 << 13) - 1, LANDLOCK_SINCE_2 = 1 << 13, LANDLOCK_SINCE_3 = 1 << 14 };
static const uint64_t LANDLOCK_SEE = LANDLOCK_EXECUTE | LANDLOCK_READ | LANDLOCK_READ_DIRECTORY;
static const uint64_t LANDLOCK_OF_FILES = /* and to truncate them */
    LANDLOCK_EXECUTE | LANDLOCK_WRITE | LANDLOCK_READ | LANDLOCK_SINCE_3;

static void allow(int rules, const char *path, uint64_t access) {
    struct {
        uint64_t access;
        int32_t parent;
    } __attribute__((packed)) rule = {access, open(path, O_PATH | O_CLOEXEC)};
    struct stat about;
    if (rule.parent < 0 && errno == ENOENT) return;
    if (rule.parent < 0 || fstat(rule.parent, &about) != 0) child_trouble(path, strerror(errno));
    if (!S_ISDIR(about.st_mode)) rule.access &= LANDLOCK_OF_FILES;
    if (syscall(NR_landlock_add_rule, rules, LANDLOCK_PATH_BENEATH, &rule, 0) != 0)
        child_trouble(path, strerror(errno));
    close(rule.parent);
}

/* Nothing else can be opened, made, removed or executed from now on. */
static void confine(const struct options *o) {
    if (!o->seen.count && !o->changed.count) return;
    long version = syscall(NR_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION);
    uint64_t all = LANDLOCK_SINCE_1 | (version >= 2 ? LANDLOCK_SINCE_2 : 0) |
                   (version >= 3 ? LANDLOCK_SINCE_3 : 0);
    int rules = (int)syscall(NR_landlock_create_ruleset, &all, sizeof all, 0);
    if (rules < 0) child_trouble("Landlock", strerror(errno));
    for (int i = 0; i < o->seen.count; i++) allow(rules, o->seen.items[i], LANDLOCK_SEE);
    for (int i = 0; i < o->changed.count; i++) allow(rules, o->changed.items[i], all);
    if (syscall(NR_landlock_restrict_self, rules, 0) != 0)
        child_trouble("Landlock", strerror(errno));
    close(rules);
}

/* ---- The child's filter of system calls ------------------------------------------------------ */

#if defined __x86_64__
#define FILTER_ARCH AUDIT_ARCH_X86_64
enum { X32_BIT = 0x40000000 };
#elif defined __aarch64__
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#endif

/* Numbers that older headers lack; the same on both machines. */
enum { NR_pidfd_send_signal = 424, NR_pidfd_open = 434, NR_clone3, NR_pidfd_getfd = 438 };
enum { NR_io_uring_setup = 425, NR_io_uring_enter, NR_io_uring_register };
enum { NR_open_tree = 428, NR_move_mount, NR_fsopen, NR_fsconfig, NR_fsmount, NR_fspick };
enum { NR_mount_setattr = 442, NR_statmount = 457, NR_listmount };
enum { NR_process_madvise = 440, NR_memfd_secret = 447, NR_process_mrelease };
enum { NR_set_mempolicy_home_node = 450 };

/* What neither a compiler nor a kernel needs, and what has been used to break out of sandboxes. */
static const int DENIED[] = {
    /* other machines, other processes through a socket */
    __NR_socket, __NR_socketpair, __NR_connect, __NR_bind, __NR_listen,
    /* other processes */
    __NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev, __NR_kcmp, __NR_tkill,
    NR_pidfd_send_signal, NR_pidfd_open, NR_pidfd_getfd, NR_process_madvise, NR_process_mrelease,
    __NR_setpriority, __NR_ioprio_set, __NR_sched_setscheduler, __NR_sched_setparam,
    __NR_sched_setattr, __NR_move_pages, __NR_migrate_pages,
    /* memory that no limit counts, and that outlives its process */
    __NR_memfd_create, NR_memfd_secret, __NR_shmget, __NR_shmat, __NR_shmctl, __NR_semget,
    __NR_semop, __NR_semctl, __NR_msgget, __NR_msgsnd, __NR_msgrcv, __NR_msgctl, __NR_mq_open,
    __NR_mq_unlink,
    /* large interfaces of the kernel */
    __NR_bpf, __NR_perf_event_open, NR_io_uring_setup, NR_io_uring_enter, NR_io_uring_register,
    __NR_userfaultfd, __NR_keyctl, __NR_add_key, __NR_request_key, __NR_fanotify_init,
    __NR_fanotify_mark, __NR_personality, __NR_syslog, __NR_acct, __NR_quotactl,
    __NR_name_to_handle_at, __NR_open_by_handle_at, __NR_vmsplice, NR_set_mempolicy_home_node,
    __NR_lookup_dcookie, __NR_kexec_load, __NR_init_module, __NR_finit_module, __NR_delete_module,
    __NR_reboot, __NR_swapon, __NR_swapoff, __NR_settimeofday, __NR_clock_settime, __NR_adjtimex,
    __NR_clock_adjtime, __NR_sethostname, __NR_setdomainname, __NR_vhangup,
    /* another view of the file system */
    __NR_unshare, __NR_setns, __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot, NR_open_tree,
    NR_move_mount, NR_fsopen, NR_fsconfig, NR_fsmount, NR_fspick, NR_mount_setattr, NR_statmount,
    NR_listmount,
#ifdef __x86_64__
    __NR_iopl, __NR_ioperm, __NR_modify_ldt, __NR_kexec_file_load, __NR_uselib, __NR_ustat,
    __NR_sysfs, __NR__sysctl
#endif
};

#define DO(code, value) ((struct sock_filter)BPF_STMT(code, (uint32_t)(value)))
#define IF(test, value, then, otherwise)                                                           \
    ((struct sock_filter)BPF_JUMP(BPF_JMP | test | BPF_K, (uint32_t)(value), then, otherwise))
#define LOAD(field) DO(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF_EQUAL(value, then, otherwise) IF(BPF_JEQ, value, then, otherwise)
#define IF_ANY_BIT(value, then, otherwise) IF(BPF_JSET, value, then, otherwise)
#define RETURN(what) DO(BPF_RET | BPF_K, what)
#define REFUSE RETURN(SECCOMP_RET_ERRNO | EPERM)
/* What a call of this number gets; and one that is allowed with this first argument alone. */
#define ON(number, what) code[n++] = IF_EQUAL(number, 0, 1), code[n++] = RETURN(what)
#define ONLY_WITH(number, argument)                                                                \
    code[n++] = IF_EQUAL(number, 0, 4), code[n++] = LOAD(args[0]),                                 \
    code[n++] = IF_EQUAL(argument, 1, 0), code[n++] = REFUSE,                                      \
    code[n++] = RETURN(SECCOMP_RET_ALLOW)

/* Where the system offers filters; elsewhere the rest of the jail has to suffice. Signals may go to
 * the program's own process only: abort() and raise() need no more. */
static void set_filter(bool gpu) {
#ifdef FILTER_ARCH
    static const int signals[] = {__NR_kill, __NR_tgkill, __NR_rt_sigqueueinfo,
                                  __NR_rt_tgsigqueueinfo};
    const uint32_t new_namespace = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                                   CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
    const size_t denied = sizeof DENIED / sizeof *DENIED;
    const size_t signal_count = sizeof signals / sizeof *signals;
    struct sock_filter code[2 * sizeof DENIED / sizeof *DENIED + 64];
    size_t n = 0;
    code[n++] = LOAD(arch);
    code[n++] = IF_EQUAL(FILTER_ARCH, 1, 0);
    code[n++] = RETURN(SECCOMP_RET_KILL_PROCESS);
    code[n++] = LOAD(nr);
#ifdef __x86_64__
    code[n++] = IF_ANY_BIT(X32_BIT, 0, 1);
    code[n++] = RETURN(SECCOMP_RET_KILL_PROCESS);
#endif
    if (gpu) { /* the driver listens at a socket of this machine's, and does not start without */
        ONLY_WITH(__NR_socket, AF_UNIX);
        ON(__NR_bind, SECCOMP_RET_ALLOW);
        ON(__NR_listen, SECCOMP_RET_ALLOW);
    }
    for (size_t i = 0; i < denied; i++) ON(DENIED[i], SECCOMP_RET_ERRNO | EPERM);
    /* Its flags are in memory, which a filter cannot read; the C library then uses clone. */
    ON(NR_clone3, SECCOMP_RET_ERRNO | ENOSYS);
    code[n++] = IF_EQUAL(__NR_clone, 0, 3);
    code[n++] = LOAD(args[0]);
    code[n++] = IF_ANY_BIT(new_namespace, 0, 1);
    code[n++] = REFUSE;
    code[n++] = LOAD(nr);
    for (size_t i = 0; i < signal_count; i++) ONLY_WITH(signals[i], getpid());
    code[n++] = RETURN(SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = (unsigned short)n, .filter = code};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0 && errno != EINVAL &&
        errno != ENOSYS)
        child_trouble("seccomp", strerror(errno));
#endif
}

/* After a failure that may pass, as process.py knows it too: waits a little, a few times. False: it
 * does not, or not in time. Not for want of memory, which a program may bring about by its size. */
static bool try_again(int attempt) {
    static const long milliseconds[] = {50, 200, 1000};
    if (errno != EFAULT && errno != EAGAIN && errno != ETXTBSY) return false;
    if (attempt == sizeof milliseconds / sizeof *milliseconds) return false;
    const struct timespec pause = {milliseconds[attempt] / 1000,
                                   milliseconds[attempt] % 1000 * 1000000};
    nanosleep(&pause, NULL);
    return true;
}

/* In the child: becomes the program. */
static _Noreturn void run_program(const struct options *o) {
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close_others_at_exec(o);
    int victim = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (victim >= 0) { /* should the machine run out of memory, this goes first */
        ssize_t written = write(victim, "1000", 4);
        (void)written;
        close(victim);
    }
    umask(022);
    set_limits(o);
    become((long)o->uid);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of uid clears it */
    if (o->directory && chdir(o->directory) != 0) child_trouble(o->directory, strerror(errno));
    sigset_t none;
    sigemptyset(&none);
    for (int s = 1; s < NSIG; s++) signal(s, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) child_trouble("no_new_privs", strerror(errno));
    confine(o);
    set_filter(o->gpu != 0);
    execvp(o->program[0], o->program);
    for (int attempt = 0; try_again(attempt); attempt++) execvp(o->program[0], o->program);
    if (errno == ENOENT || errno == EACCES) child_trouble(o->program[0], strerror(errno));
    dprintf(trouble_pipe, "unloadable %s", strerror(errno));
    _exit(JAIL_TROUBLE);
}

/* ---- Watching -------------------------------------------------------------------------------- */

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct process {
    pid_t pid, parent;
    bool runs; /* a thread of it does, or would if a processor were free */
    rlim_t resident;
    uint64_t ticks; /* of the processor, its own and those of children that it has waited for */
};

/* Reads /proc/PID/stat into `text`. Returns what follows the program's name, which may hold any
 * character; null if nothing does. */
static const char *behind_name(const char *path, char *text, size_t room) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd >= 0 ? read(fd, text, room - 1) : -1;
    if (fd >= 0) close(fd);
    if (length <= 0) return NULL;
    text[length] = '\0';
    const char *end = strrchr(text, ')');
    return end && end[1] == ' ' ? end + 2 : NULL;
}

/* Whether any thread but the first is running: the process's own `stat` describes the first. */
static bool threads_run(pid_t pid) {
    char path[300], text[512];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    if (!tasks) return false;
    for (struct dirent *e; !found && (e = readdir(tasks));) {
        snprintf(path, sizeof path, "/proc/%d/task/%s/stat", (int)pid, e->d_name);
        const char *state = e->d_name[0] == '.' ? NULL : behind_name(path, text, sizeof text);
        found = state && *state == 'R';
    }
    closedir(tasks);
    return found;
}

static bool read_process(pid_t pid, struct process *p) {
    char path[64], text[512], state;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    const char *after = behind_name(path, text, sizeof text);
    int parent;
    unsigned long own[2];
    long of_children[2], threads, resident;
    if (!after || sscanf(after,
                         "%c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld %*d %*d %ld "
                         "%*d %*u %*u %ld",
                         &state, &parent, &own[0], &own[1], &of_children[0], &of_children[1],
                         &threads, &resident) != 8)
        return false;
    *p = (struct process){.pid = pid,
                          .parent = parent,
                          .runs = state == 'R',
                          .resident = (rlim_t)resident * (rlim_t)sysconf(_SC_PAGESIZE),
                          .ticks = own[0] + own[1] + (uint64_t)of_children[0] +
                                   (uint64_t)of_children[1]};
    if (!p->runs && threads > 1) p->runs = threads_run(pid);
    return true;
}

enum { MAX_SEEN = 4096 };
static struct process seen[MAX_SEEN];

/* What ran before the program did, and so is none of it. A look at a process takes longer than to
 * find it in the list, and a machine of many users has thousands. A number that is used again has
 * another inode there; 1 is none. */
static struct stranger {
    pid_t pid;
    ino_t inode;
} strangers[MAX_SEEN];
static size_t stranger_count;

static struct dirent *next_process(DIR *proc) {
    struct dirent *e = readdir(proc);
    while (e && (e->d_name[0] < '1' || e->d_name[0] > '9')) e = readdir(proc);
    return e;
}

static void note_strangers(void) {
    DIR *proc = opendir("/proc");
    if (!proc) return;
    for (struct dirent *e; (e = next_process(proc)) && stranger_count < MAX_SEEN;)
        if (e->d_ino > 1)
            strangers[stranger_count++] = (struct stranger){(pid_t)atoi(e->d_name), e->d_ino};
    closedir(proc);
}

/* All other processes of the system that are visible here. Both lists are in the order of /proc. */
static size_t see_processes(void) {
    size_t count = 0, next = 0;
    DIR *proc = opendir("/proc");
    if (!proc) return 0;
    for (struct dirent *e; (e = next_process(proc)) && count < MAX_SEEN;) {
        const pid_t pid = (pid_t)atoi(e->d_name);
        while (next < stranger_count && strangers[next].pid < pid) next++;
        if (next < stranger_count && strangers[next].pid == pid &&
            strangers[next].inode == e->d_ino)
            continue;
        count += read_process(pid, &seen[count]);
    }
    closedir(proc);
    return count;
}

static bool descends(const struct process *p, size_t count) {
    const pid_t self = getpid();
    pid_t parent = p->parent;
    for (int generation = 0; generation < 1000 && parent > 1; generation++) {
        if (parent == self) return true;
        size_t i = 0;
        while (i < count && seen[i].pid != parent) i++;
        if (i == count) return false;
        parent = seen[i].parent;
    }
    return false;
}

/* Of the program and all that it started. Orphans are our children (subreaper). */
struct use {
    rlim_t resident;
    double cpu; /* seconds, of those that run and those that have ended */
    bool runs;
};

static double cpu_of_ended(void) {
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           1e-6 * ((double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_usec);
}

static struct use use_now(void) {
    struct use use = {.cpu = cpu_of_ended()};
    const double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
    size_t count = see_processes();
    for (size_t i = 0; i < count; i++) {
        if (!descends(&seen[i], count)) continue;
        use.resident += seen[i].resident;
        use.cpu += tick * (double)seen[i].ticks;
        use.runs = use.runs || seen[i].runs;
    }
    return use;
}

/* What is in use of a file system; 0 without one. */
static rlim_t bytes_in(const char *path) {
    struct statvfs about;
    if (!path || statvfs(path, &about) != 0) return 0;
    return (rlim_t)(about.f_blocks - about.f_bfree) * about.f_frsize;
}

/* ---- Ending ---------------------------------------------------------------------------------- */

/* Everything that runs under this uid, which is this run's alone: one call of the kernel's, which
 * no fork escapes. */
static void kill_uid(long uid) {
    pid_t helper = fork();
    if (helper == 0) {
        if (setresuid((uid_t)uid, (uid_t)uid, (uid_t)uid) == 0) kill(-1, SIGKILL);
        _exit(0);
    }
    if (helper > 0) waitpid(helper, NULL, 0);
}

static void kill_descendants(void) {
    size_t count = see_processes();
    for (size_t i = 0; i < count; i++)
        if (descends(&seen[i], count)) kill(seen[i].pid, SIGKILL);
}

/* Until there is no child left to wait for. What escapes this in bubblewrap dies with its pid
 * namespace. */
static void end_all(long uid) {
    for (int round = 0; round < 1000; round++) {
        if (uid >= 0) kill_uid(uid);
        kill_descendants();
        pid_t pid;
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) continue;
        if (pid < 0 && errno == ECHILD) return;
        nanosleep(&(struct timespec){0, 1000 * 1000}, NULL);
    }
}

enum ending { ENDED, WALL_LIMIT, TIME_LIMIT, MEMORY_LIMIT, STOPPED };
static const char *const LIMIT_NAMES[] = {"none", "wall", "time", "memory", "stopped"};

/* How it went. */
struct watched {
    enum ending ending;
    int status;
    double asleep; /* seconds in which no thread of the program wanted a processor */
    rlim_t peak;   /* of memory in use */
};

/* Until it is time for the next look, or a signal comes: its number, or -1. */
static int wait_a_little(const sigset_t *signals) {
    unsigned nanoseconds = 0;
    if (getrandom(&nanoseconds, sizeof nanoseconds, GRND_NONBLOCK) < 0)
        nanoseconds = WATCH_NANOSECONDS / 2;
    nanoseconds = WATCH_NANOSECONDS / 2 + nanoseconds % WATCH_NANOSECONDS;
    return sigtimedwait(signals, NULL, &(struct timespec){0, (long)nanoseconds});
}

/* Waits for the child; `signals` are blocked. `before`: what was in the counted file system. */
static struct watched wait_for(pid_t child, const struct options *o, const sigset_t *signals,
                               rlim_t before) {
    struct watched w = {.ending = ENDED};
    double now = seconds_now();
    const double end = o->wall > 0 ? now + o->wall : 1e300;
    for (;;) {
        pid_t pid;
        while ((pid = waitpid(-1, &w.status, WNOHANG)) > 0)
            if (pid == child) return w;
        const double last = now;
        now = seconds_now();
        const struct use use = use_now();
        const rlim_t stored = bytes_in(o->counted);
        const rlim_t memory = use.resident + (stored > before ? stored - before : 0);
        if (!use.runs) w.asleep += now - last;
        if (memory > w.peak) w.peak = memory;
        w.ending = now >= end                                        ? WALL_LIMIT
                   : o->time > 0 && use.cpu + w.asleep >= o->time    ? TIME_LIMIT
                   : o->resident > 0 && memory > (rlim_t)o->resident ? MEMORY_LIMIT
                                                                     : ENDED;
        if (w.ending != ENDED) return w;
        int signal = wait_a_little(signals);
        if (signal > 0 && signal != SIGCHLD) {
            w.ending = STOPPED;
            return w;
        }
    }
}

/* Between two looks one process may have grown and ended. */
static rlim_t peak_of(const struct watched *w) {
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    const rlim_t largest = (rlim_t)usage.ru_maxrss * 1024;
    return largest > w->peak ? largest : w->peak;
}

int main(int argc, char **argv) {
    struct options o;
    read_options(&o, argc, argv);
    int pipe_ends[2];
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* a grader that is killed leaves nothing running */
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fcntl((int)o.report, F_SETFD, FD_CLOEXEC);
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
        dprintf((int)o.report, "trouble pipe: %s\n", strerror(errno));
        return JAIL_TROUBLE;
    }
    trouble_pipe = pipe_ends[1];
    const rlim_t stored = bytes_in(o.counted);
    note_strangers();
    pid_t child = fork();
    for (int attempt = 0; child < 0 && try_again(attempt); attempt++) child = fork();
    if (child < 0) {
        dprintf((int)o.report, "trouble fork: %s\n", strerror(errno));
        return JAIL_TROUBLE;
    }
    if (child == 0) run_program(&o);
    close(pipe_ends[1]);
    close(STDOUT_FILENO); /* the reader waits for the last writer to close it */
    close(STDERR_FILENO);
    for (int i = 0; i < o.passed.count; i++) close(atoi(o.passed.items[i]));

    char trouble[512];
    struct watched w = wait_for(child, &o, &signals, stored);
    end_all((long)o.uid);
    ssize_t length = read(pipe_ends[0], trouble, sizeof trouble - 1);
    if (length > 0) {
        trouble[length] = '\0';
        dprintf((int)o.report, "%s\n", trouble);
        return JAIL_TROUBLE;
    }
    if (w.ending != ENDED) w.status = SIGKILL;
    dprintf((int)o.report, "ended %s %d cpu %.3f asleep %.3f peak %llu limit %s\n",
            WIFEXITED(w.status) ? "exit" : "signal",
            WIFEXITED(w.status) ? WEXITSTATUS(w.status) : WTERMSIG(w.status), cpu_of_ended(),
            w.asleep, (unsigned long long)peak_of(&w), LIMIT_NAMES[w.ending]);
    return JAIL_OK;
}
