/* An ELF-64 file (System V ABI, chapter 4). Everything read is checked against the file's end. */
#ifndef ENGINE_CUDA_PROGRAM_ELF_FILE_H
#define ENGINE_CUDA_PROGRAM_ELF_FILE_H
#include "program.h"
#include <elf.h>

struct elf_file {
    const char *bytes; /* mapped as long as the program runs */
    size_t size;
    const Elf64_Shdr *sections;
    unsigned section_count;
    const Elf64_Sym *symbols;
    unsigned symbol_count; /* 0: there are none */
    struct image_section names;
};

/* Maps the file and reads its tables. Returns NULL, or what is wrong with the file. */
const char *elf_open(struct elf_file *f, const char *path);

static inline const Elf64_Ehdr *elf_header(const struct elf_file *f) {
    return (const void *)f->bytes;
}
static inline bool elf_is_aarch64(const struct elf_file *f) {
    return elf_header(f)->e_machine == EM_AARCH64;
}

/* The name of a symbol, of a section; "" where there is none. */
const char *elf_symbol_name(const struct elf_file *f, unsigned symbol);
const char *elf_section_name(const struct elf_file *f, unsigned section);
/* The number of the first section of this name; 0: there is none, and that one has no bytes. */
unsigned elf_find_section(const struct elf_file *f, const char *name);
/* The bytes of a section; none where they are not in the file as they are. */
struct image_section elf_bytes(const struct elf_file *f, unsigned section);
/* The entries of a section that has so large ones, and lies as C wants them; else *count is 0. */
const void *elf_table(const struct elf_file *f, unsigned section, size_t entry, size_t *count);

#endif
