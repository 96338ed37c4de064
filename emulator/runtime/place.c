/* From an address to a line of source, and from a kernel to its static shared memory.
 *
 * Lines come from addr2line, which every gcc installation brings along (binutils): reading debug
 * information is a library's work, and this is the one that is there. Sizes come from the
 * program's own symbol table (ELF-64: System V ABI, chapter 4). */
#define _GNU_SOURCE
#include "runtime.h"
#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
extern const char __executable_start[], etext[]; /* set by the linker */

bool place_in_program(const void *address) {
    return (const char *)address >= __executable_start && (const char *)address < etext;
}

/* --- lines ------------------------------------------------------------------------------------ */

/* An address as the file knows it: a position-independent program is linked at 0. */
static uintptr_t link_address(const void *address) {
    const Elf64_Ehdr *header = (const void *)__executable_start;
    uintptr_t base = header->e_type == ET_DYN ? (uintptr_t)__executable_start : 0;
    return (uintptr_t)address - base;
}

/* Starts `tool` on the addresses; its output can be read from the stream. Null if there is none. */
static FILE *start_tool(const char *tool, const char *program, void *const *addresses, int count,
                        pid_t *pid) {
    enum { FIXED = 5, TEXT = 20 };
    char texts[32][TEXT];
    char *arguments[FIXED + 32 + 1] = {(char *)(uintptr_t)tool, "-C", "-f", "-i", "-e"};
    int used = FIXED, ends[2];
    arguments[used++] = (char *)(uintptr_t)program;
    for (int i = 0; i < count && i < 31; ++i) {
        if (!place_in_program(addresses[i])) continue;
        snprintf(texts[i], TEXT, "0x%zx", (size_t)link_address(addresses[i]));
        arguments[used++] = texts[i];
    }
    arguments[used] = NULL;
    if (used == FIXED + 1 || pipe2(ends, O_CLOEXEC) != 0) return NULL;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawnp(pid, tool, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    FILE *stream = failed ? NULL : fdopen(ends[0], "r");
    if (!stream) close(ends[0]);
    return stream;
}

static bool belongs_to_student(const char *file) {
    return file[0] != '?' && !strstr(file, "emulator/include/") &&
           !strstr(file, "emulator/runtime/") && strncmp(file, "/usr/", 5) != 0;
}

/* "/home/me/lab/kernel.cu:12 (discriminator 3)" -> file, line; relative to where we are. */
static bool parse_place(char *text, struct place *place) {
    char here[sizeof place->file];
    char *colon = strrchr(text, ':');
    if (!colon) return false;
    *colon = '\0';
    place->line = atoi(colon + 1);
    if (place->line <= 0 || !belongs_to_student(text)) return false;
    if (getcwd(here, sizeof here)) {
        size_t length = strlen(here);
        if (strncmp(text, here, length) == 0 && text[length] == '/') text += length + 1;
    }
    snprintf(place->file, sizeof place->file, "%s", text);
    return true;
}

/* Pairs of lines, a function and a place, from the innermost on. */
static struct place read_places(FILE *stream) {
    struct place found = {.line = 0}, next;
    char text[1024];
    while (fgets(next.function, sizeof next.function, stream)) {
        next.function[strcspn(next.function, "(\n")] = '\0'; /* the name will do */
        if (!fgets(text, sizeof text, stream)) break;
        if (!found.line && parse_place(text, &next)) found = next;
    }
    return found;
}

struct place place_find(void *const *addresses, int count) {
    static const char *const tools[] = {"addr2line", "llvm-addr2line"};
    char program[512];
    struct place place = {.line = 0};
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return place;
    program[length] = '\0';
    for (size_t i = 0; i < sizeof tools / sizeof *tools && !place.line; ++i) {
        pid_t pid;
        FILE *stream = start_tool(tools[i], program, addresses, count, &pid);
        if (!stream) continue;
        place = read_places(stream);
        fclose(stream);
        waitpid(pid, NULL, 0);
    }
    return place;
}

/* --- sizes ------------------------------------------------------------------------------------ */

/* The program's file, mapped for reading. */
struct image {
    const char *bytes;
    size_t size;
    const Elf64_Sym *symbols;
    size_t count;
    const char *names;
};

static bool find_symbols(struct image *image) {
    const Elf64_Ehdr *header = (const void *)image->bytes;
    if (image->size < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_shoff + (size_t)header->e_shnum * sizeof(Elf64_Shdr) > image->size)
        return false;
    const Elf64_Shdr *sections = (const void *)(image->bytes + header->e_shoff);
    for (int i = 0; i < header->e_shnum; ++i) {
        const Elf64_Shdr *table = &sections[i];
        if (table->sh_type != SHT_SYMTAB || table->sh_link >= header->e_shnum) continue;
        const Elf64_Shdr *strings = &sections[table->sh_link];
        if (table->sh_offset + table->sh_size > image->size ||
            strings->sh_offset + strings->sh_size > image->size)
            return false;
        image->symbols = (const void *)(image->bytes + table->sh_offset);
        image->count = table->sh_size / sizeof *image->symbols;
        image->names = image->bytes + strings->sh_offset;
        return true;
    }
    return false;
}

static bool open_image(struct image *image) {
    struct stat status;
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    void *bytes = MAP_FAILED;
    if (fstat(file, &status) == 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED) return false;
    image->bytes = bytes;
    image->size = (size_t)status.st_size;
    if (find_symbols(image)) return true;
    munmap(bytes, image->size);
    return false;
}

static const char *symbol_name(const struct image *image, const void *function) {
    for (size_t i = 0; i < image->count; ++i)
        if (ELF64_ST_TYPE(image->symbols[i].st_info) == STT_FUNC &&
            image->symbols[i].st_value == link_address(function))
            return image->names + image->symbols[i].st_name;
    return NULL;
}

/* A function's static variable v is mangled _ZZ<function>E<v> (Itanium C++ ABI, 5.1.7). */
static void local_prefix(char *prefix, size_t bytes, const char *function) {
    if (strncmp(function, "_Z", 2) == 0)
        snprintf(prefix, bytes, "_ZZ%sE", function + 2);
    else
        snprintf(prefix, bytes, "_ZZ%zu%sE", strlen(function), function);
}

size_t place_static_shared(const void *kernel) {
    struct image image;
    char prefix[1024];
    size_t total = 0;
    if (!open_image(&image)) return 0;
    const char *function = symbol_name(&image, kernel);
    if (function) {
        local_prefix(prefix, sizeof prefix, function);
        for (size_t i = 0; i < image.count; ++i)
            if (ELF64_ST_TYPE(image.symbols[i].st_info) == STT_TLS &&
                strncmp(image.names + image.symbols[i].st_name, prefix, strlen(prefix)) == 0)
                total += image.symbols[i].st_size;
    }
    munmap((void *)(uintptr_t)image.bytes, image.size);
    return total;
}
