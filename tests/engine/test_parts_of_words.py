"""Accesses of parts of words in shared memory: bytes of one word are accessed by different threads,
which race where they meet in a byte, and nowhere else. Threads run in order up to a barrier."""

from __future__ import annotations

from alone import the_engine

# Before a barrier, behind it, behind the next one, and what is found; t is the thread.
CASES = {
    "neighbors write": ("", "byte[t] = 1;", "", ""),
    "two write": ("", "byte[t % 3] = 1;", "", "race"),
    "a neighbor reads": ("", "if (t == 0) byte[0] = 1; else x = byte[t];", "", ""),
    "another reads it": ("", "if (t == 0) byte[0] = 1; else x = byte[t & 2];", "", "race"),
    "a write behind a read": ("", "if (t < 3) x = byte[t]; else byte[1] = 1;", "", "race"),
    "a write beside reads": ("", "if (t < 3) x = byte[t]; else byte[3] = 1;", "", ""),
    "a write behind two reads": ("", "if (t == 0) byte[2] = 1; if (t < 2) x = byte[2];", "", "race"),
    "its own read": ("", "x = byte[t]; byte[t] = x + 1;", "", ""),
    "a half and its byte": ("", "if (t == 0) half[0] = 1; if (t == 1) x = byte[1];", "", "race"),
    "a half and the other": ("", "if (t < 2) half[t] = 1; if (t == 2) x = byte[4];", "", ""),
    "a word and its byte": ("", "if (t == 0) x = word; if (t == 1) byte[3] = 1;", "", "race"),
    "a byte and its word": ("", "if (t == 0) byte[3] = 1; if (t == 1) word = 1;", "", "race"),
    "two words": ("", "if (t == 0) byte[4] = 1; if (t == 1) word = 1;", "", ""),
    "bytes of two words":
        ("byte[t] = byte[4 + t] = 1;", "if (t == 0) byte[1] = 2; if (t == 1) byte[4] = 2;", "", ""),
    "a word behind a barrier": ("byte[t] = 1;", "x = word;", "byte[t] = 2;", ""),
    "a byte of a word": ("if (t == 0) word = 1;", "x = byte[t];", "if (t == 1) word = 2;", ""),
    "in the second turn": ("byte[t] = 1;", "x = byte[3 - t];", "byte[t] = 2; x = byte[0];", "race"),
    "a half in the second turn":
        ("half[t] = 1;", "if (t == 0) half[0] = 2; if (t == 1) x = byte[1];", "", "race"),
    "a half is read in the second turn":
        ("half[t] = 1;", "if (t == 0) x = half[0]; if (t == 1) byte[1] = 2;", "", "race"),
    "the other half in the second turn":
        ("half[t] = 1;", "if (t == 0) half[0] = 2; if (t == 1) x = byte[2];", "", ""),
    "an atomic of the word": ("byte[t] = 1;", "atomicAdd(&word, 1);", "x = byte[t];", ""),
    "an atomic and a byte": ("", "byte[t] = 1; if (t == 3) atomicAdd(&word, 1);", "", "race"),
    "an atomic and another's": ("", "byte[4 + t] = 1; if (t == 3) atomicAdd(&word, 1);", "", ""),
    "fences": ("byte[t] = 1;", "__threadfence_block(); x = byte[t];", "byte[t] = 2;", ""),
    "fences, and another's":
        ("byte[t] = 1;", "__threadfence_block(); byte[t] = 2; x = byte[3];", "", "race"),
    "a fence between":
        ("byte[t] = 1;", "byte[t] = 2; __threadfence_block(); x = byte[0];", "", "race"),
    "a lane's operation":
        ("", "byte[t] = 1; if (t < 2) { __syncwarp(3); x = byte[1 - t]; }", "", ""),
    "another's operation":
        ("", "byte[t] = 1; if (t < 2) { __syncwarp(3); x = byte[2]; }", "", "race"),
    "all lanes' operation, and the first lane's own":
        ("", "byte[t] = 1; __syncwarp(15); __syncwarp(t ? 14 : 1); x = byte[3 - t];", "", ""),
    "the first lane's own":
        ("", "byte[t] = 1; __syncwarp(t ? 14 : 1); x = byte[3 - t];", "", "race"),
    "never written": ("", "x = byte[8 + t];", "", "uninitialized"),
    "a neighbor is written": ("if (t == 0) byte[8] = 1;", "x = byte[9];", "", ""),
}

# What clang calls where a type is packed: of each, the last byte meets another thread.
CALLS = {f"__tsan_unaligned_{way}{size}": (way, size) for size in (2, 4, 8, 16)
         for way in ("read", "write", "volatile_read", "volatile_write")}
CASES |= {call: ("words[t] = 0;", f"if (t == 0) {call}(byte); if (t == 3) "
                 + (f"byte[{size - 1}] = 1;" if way.endswith("read") else f"x = byte[{size - 1}];"), "", "race")
          for call, (way, size) in CALLS.items()}


def program() -> str:
    text = "".join(f'extern "C" void {call}(void *);\n' for call in CALLS) + """
__global__ void kernel(int which, int *out) {
    __shared__ int words[4];
    int &word = words[0];
    unsigned char *byte = (unsigned char *)words;
    unsigned short *half = (unsigned short *)words;
    const int t = threadIdx.x;
    int x = 0;
    if (t == 0) words[0] = words[1] = 0;
    __syncthreads();
"""
    for number, (*lines, _) in enumerate(CASES.values()):
        text += f"    if (which == {number}) {{\n"
        text += "\n    __syncthreads();\n".join(lines) + "\n    }\n"
    return text + """    out[t] = x;
}
int main(int, char **words) {
    int *out;
    cudaMalloc(&out, 4 * sizeof(int));
    kernel<<<1, 4>>>(atoi(words[1]), out);
    cudaFree(out);
    return 0;
}
"""


def test_parts_of_words() -> None:
    engine = the_engine()
    engine.build("#include <stdlib.h>\n" + program())
    kinds = {"": "no mistakes found", "race": "race on shared memory", "uninitialized": "uninitialized"}
    for number, (name, (*_, found)) in enumerate(CASES.items()):
        said = engine.run(str(number)).stderr
        assert kinds[found] in said, (name, said)
