// cc and c++, as the tests call them (conftest.py): what one of them has compiled the others copy,
// since many build the same files with the same flags, in copies of the repository.
//
//     cc -DCOMPILER='"/usr/bin/cc"' -DSTORE='"a folder"' kept_objects.c -o cc
//
// Kept are objects of C and of preprocessed C++, and what the preprocessor prints: by arguments,
// source and headers, but for the system's. The working directory's path is in all of these: it may
// be another one of the same length; of C it may be any, since nothing reads it in those objects.
// What gives a warning is compiled each time, what is not recognized, or whose headers come by way
// of the environment, too. A precompiled prelude is made when an object needs it that is not kept:
// until then its file holds the words of the command.
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct text {
    char *bytes;
    size_t length;
};

struct call {
    char **arguments;
    const char *source, *object, *dependencies; // object: null where it goes to standard output
};

static char here[4096], nowhere[4096]; // the working directory, and as many other bytes

// The file with this path, and a zero behind it; without bytes where it cannot be read.
static struct text text_of(const char *path) {
    struct text text = {0};
    struct stat status;
    int file = open(path, O_RDONLY);
    if (file >= 0 && !fstat(file, &status) && S_ISREG(status.st_mode)) {
        char *bytes = malloc((size_t)status.st_size + 1);
        ssize_t length = bytes ? read(file, bytes, (size_t)status.st_size) : -1;
        if (length == status.st_size) {
            bytes[length] = '\0';
            text = (struct text){bytes, (size_t)length};
        }
    }
    if (file >= 0) close(file);
    return text;
}

static void replace(struct text text, const char *old, const char *new) {
    size_t length = strlen(old);
    if (!length) return;
    for (char *at = text.bytes;
         (at = memmem(at, text.length - (size_t)(at - text.bytes), old, length));)
        memcpy(at, new, length), at += length;
}

// FNV-1a of 128 bits.
typedef unsigned __int128 hash;
static const hash hash_of_nothing = (hash)0x6c62272e07bb0142 << 64 | 0x62b821756295c58d;

static hash hash_with(hash hash, struct text text) {
    for (size_t i = 0; i < text.length; i++)
        hash = (hash ^ (unsigned char)text.bytes[i]) * (((unsigned __int128)1 << 88) + 0x13b);
    return (hash ^ text.length) * (((unsigned __int128)1 << 88) + 0x13b);
}

static hash hash_with_file(hash hash, const char *path) {
    struct text text = text_of(path);
    if (text.bytes) replace(text, here, nowhere);
    hash = hash_with(hash, text);
    free(text.bytes);
    return hash;
}

static char *name_of(hash hash, const char *suffix) {
    char *name;
    if (asprintf(&name, "%s/%016llx%016llx%s", STORE, (unsigned long long)(hash >> 64),
                 (unsigned long long)hash, suffix) < 0)
        exit(2);
    return name;
}

static bool write_all(int file, struct text text) {
    for (size_t done = 0; done < text.length;) {
        ssize_t written = write(file, text.bytes + done, text.length - done);
        if (written < 0) return false;
        done += (size_t)written;
    }
    return true;
}

// In one step: another one may write the same.
static void keep(struct text text, const char *name) {
    char new[] = STORE "/new.XXXXXX";
    int file = mkstemp(new);
    if (file >= 0 && write_all(file, text) && !close(file)) rename(new, name);
}

// Writes `text` there, or to standard output.
static bool put(struct text text, const char *path) {
    if (!path) return write_all(1, text);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    return file >= 0 && write_all(file, text) && !close(file);
}

static bool is(const char *word, const char *other) { return word && !strcmp(word, other); }

// Is this a call of a kind that is kept? Arguments: ... [-MF FILE] ... -c SOURCE -o OBJECT, or ...
// -E ... SOURCE.
static bool recognized(struct call *call, int count, char **arguments) {
    bool preprocessed = false, preprocesses = false;
    struct stat status;
    *call = (struct call){.arguments = arguments};
    for (int i = 1; i < count; i++) {
        preprocessed |= is(arguments[i], "c++-cpp-output");
        preprocesses |= is(arguments[i], "-E");
        if (is(arguments[i], "-MF")) call->dependencies = arguments[i + 1];
    }
    if (preprocesses) {
        call->source = arguments[count - 1];
        return is(arguments[count - 2], "c++") && !stat(call->source, &status) &&
               S_ISREG(status.st_mode);
    }
    if (count < 6 || !is(arguments[count - 4], "-c") || !is(arguments[count - 2], "-o"))
        return false;
    call->source = arguments[count - 3];
    call->object = arguments[count - 1];
    const char *dot = strrchr(call->source, '.');
    return preprocessed ? !call->dependencies : call->dependencies && is(dot, ".c");
}

// The precompiled prelude that a source says is to be read (engine/kernel.sh), or null.
static char *precompiled(const char *source) {
    static const char words[] = "\n#pragma GCC pch_preprocess \"";
    struct text text = text_of(source);
    const char *first = text.bytes ? strchr(text.bytes, '\n') : NULL;
    char *name = NULL;
    if (first && !strncmp(first, words, sizeof words - 1))
        name = strndup(first + sizeof words - 1, strcspn(first + sizeof words - 1, "\""));
    free(text.bytes);
    return name;
}

// With the prelude that it was made of.
static hash hash_with_prelude(hash hash, const char *source) {
    char *name = precompiled(source);
    if (!name) return hash;
    name[strlen(name) - strlen(".gch")] = '\0';
    hash = hash_with_file(hash, name);
    free(name);
    return hash;
}

// Of the compiler, the working directory's length, the arguments and the source.
static hash hash_of(struct call call) {
    hash hash = hash_of_nothing;
    for (char **word = call.arguments; *word; word++)
        // An object of preprocessed text says nothing of where that and itself lie.
        if (call.dependencies || !call.object || (*word != call.source && *word != call.object)) {
            struct text copy = {strdup(*word), strlen(*word)};
            replace(copy, here, nowhere);
            hash = hash_with(hash, copy);
            free(copy.bytes);
        }
    hash = hash_with_prelude(hash, call.source);
    return hash_with_file(hash_with(hash, (struct text){nowhere, strlen(nowhere)}), call.source);
}

// Those of a folder named by -isystem: whatever comes of one by -imacros, no line says.
static void print_system_headers(struct call call, FILE *list) {
    for (char **word = call.arguments; *word; word++) {
        char *pattern;
        glob_t found;
        if (!is(*word, "-isystem") || asprintf(&pattern, "%s/*.h", word[1]) < 0) continue;
        if (!glob(pattern, 0, NULL, &found))
            for (size_t i = 0; i < found.gl_pathc; i++) fprintf(list, "%s\n", found.gl_pathv[i]);
    }
}

// The headers' paths, a line each: of "header.h:" in what -MP writes, or of lines # 1 "header.h" in
// what the preprocessor does.
static struct text headers_of(struct call call, struct text result) {
    struct text headers;
    FILE *list = open_memstream(&headers.bytes, &headers.length);
    if (!call.object) print_system_headers(call, list);
    struct text dependencies = call.object ? text_of(call.dependencies) : result;
    const char *end;
    for (const char *line = dependencies.bytes; line && (end = strchr(line, '\n'));
         line = end + 1) {
        if (call.object) {
            if (end > line && end[-1] == ':') fprintf(list, "%.*s\n", (int)(end - 1 - line), line);
        } else if (!strncmp(line, "# 1 \"", 5) && strncmp(line + 5, "/usr/", 5) && line[5] != '<') {
            fprintf(list, "%.*s\n", (int)(strcspn(line + 5, "\"")), line + 5);
        }
    }
    fclose(list);
    return headers;
}

static hash hash_with_headers(hash hash, struct text headers) {
    for (char *line = strtok(headers.bytes, "\n"); line; line = strtok(NULL, "\n"))
        hash = hash_with_file(hash, line);
    return hash;
}

// What is kept for these headers as they are now; the hash of both is in *full.
static bool found(struct call call, hash hash, __typeof__(hash) *full) {
    *full = hash;
    if (!call.object || call.dependencies) {
        struct text headers = text_of(name_of(hash, ".headers"));
        if (!headers.bytes) return false;
        replace(headers, nowhere, here);
        *full = hash_with_headers(hash, headers);
    }
    struct text result = text_of(name_of(*full, "")), dependencies = {0};
    if (!result.bytes) return false;
    if (call.dependencies && !(dependencies = text_of(name_of(*full, ".d"))).bytes) return false;
    replace(result, nowhere, here);
    return put(result, call.object) && (!call.dependencies || put(dependencies, call.dependencies));
}

// The compiler's exit status. *said: whether it said something; *result: what it has made.
static int compile(struct call call, bool *said, struct text *result) {
    char words[] = STORE "/said.XXXXXX", printed[] = STORE "/out.XXXXXX";
    int error = mkstemp(words), out = mkstemp(printed), status = 0;
    pid_t child = fork();
    if (!child) {
        dup2(error, 2);
        if (!call.object) dup2(out, 1);
        execv(COMPILER, call.arguments);
        _exit(127);
    }
    waitpid(child, &status, 0);
    struct text message = text_of(words);
    *said = !message.bytes || message.length || !WIFEXITED(status);
    if (message.bytes) write_all(2, message);
    *result = text_of(call.object ? call.object : printed);
    if (!call.object && result->bytes) write_all(1, *result);
    close(error), close(out);
    unlink(words), unlink(printed);
    if (WIFSIGNALED(status)) raise(WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static const char later[] = "to be made by";

// Is it a call of ... -x c++-header PRELUDE -o NAME? Writes its words there.
static bool put_off(int count, char **arguments) {
    struct text words;
    if (count < 6 || !is(arguments[count - 4], "c++-header") || !is(arguments[count - 2], "-o"))
        return false;
    FILE *file = open_memstream(&words.bytes, &words.length);
    for (int i = 0; i < count; i++) fprintf(file, "%s%c", i ? arguments[i] : later, '\0');
    fclose(file);
    return put(words, arguments[count - 1]);
}

static void make_precompiled(const char *name) {
    struct text words = text_of(name);
    char *arguments[1000], *new;
    int count = 0, status = 0;
    if (!words.bytes || strcmp(words.bytes, later) || asprintf(&new, "%s.%d", name, getpid()) < 0)
        return;
    for (char *word = words.bytes; word < words.bytes + words.length; word += strlen(word) + 1)
        arguments[count++] = word;
    arguments[0] = COMPILER;
    arguments[count - 1] = new;
    arguments[count] = NULL;
    pid_t child = fork();
    if (!child) {
        execv(COMPILER, arguments);
        _exit(127);
    }
    waitpid(child, &status, 0);
    if (!status) rename(new, name);
}

int main(int count, char **arguments) {
    struct call call;
    arguments[0] = COMPILER;
    bool usual = getcwd(here, sizeof here) && !getenv("CPATH") && !getenv("CPLUS_INCLUDE_PATH") &&
                 !getenv("C_INCLUDE_PATH");
    if (usual && put_off(count, arguments)) return 0;
    if (!usual || !recognized(&call, count, arguments)) {
        execv(COMPILER, arguments);
        return 127;
    }
    if (call.object && call.dependencies) here[0] = '\0';
    memset(nowhere, 1, strlen(here));
    hash hash = hash_of(call), full;
    if (found(call, hash, &full)) return 0;

    char *prelude = precompiled(call.source);
    if (prelude) make_precompiled(prelude);
    bool said;
    struct text result;
    int status = compile(call, &said, &result);
    if (status || said || !result.bytes) return status;

    full = hash;
    if (!call.object || call.dependencies) {
        struct text headers = headers_of(call, result);
        replace(headers, here, nowhere);
        keep(headers, name_of(hash, ".headers"));
        replace(headers, nowhere, here);
        full = hash_with_headers(hash, headers);
    }
    if (call.dependencies) {
        struct text dependencies = text_of(call.dependencies);
        if (!dependencies.bytes || strstr(dependencies.bytes, " /"))
            return 0; // a path of this copy alone
        keep(dependencies, name_of(full, ".d"));
    }
    replace(result, here, nowhere);
    keep(result, name_of(full, ""));
    return 0;
}
