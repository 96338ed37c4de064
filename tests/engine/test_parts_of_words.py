"""Accesses of parts of words in shared memory: bytes of one word are accessed by different threads,
which race where they meet in a byte, and nowhere else. Threads run in order up to a barrier."""

from alone import the_engine

# What each thread t does before it waits for the others; | is a barrier.
RIGHT = [
    "byte[t] = 1;",
    "if (t == 0) byte[0] = 1; else x = byte[t];",
    "if (t < 3) x = byte[t]; else byte[3] = 1;",
    "x = byte[t]; byte[t] = x + 1;",
    "if (t < 2) half[t] = 1; if (t == 2) x = byte[4];",
    "if (t == 0) byte[4] = 1; if (t == 1) word = 1;",
    "byte[t] = byte[4 + t] = 1; | if (t == 0) byte[1] = 2; if (t == 1) byte[4] = 2;",
    "byte[t] = 1; | x = word; | byte[t] = 2;",
    "if (t == 0) word = 1; | x = byte[t]; | if (t == 1) word = 2;",
    "half[t] = 1; | if (t == 0) half[0] = 2; if (t == 1) x = byte[2];",
    "byte[t] = 1; | atomicAdd(&word, 1); | x = byte[t];",
    "byte[4 + t] = 1; if (t == 3) atomicAdd(&word, 1);",
    "byte[t] = 1; | __threadfence_block(); x = byte[t]; | byte[t] = 2;",
    "byte[t] = 1; if (t < 2) { __syncwarp(3); x = byte[1 - t]; }",
    "byte[t] = 1; __syncwarp(15); __syncwarp(t ? 14 : 1); x = byte[3 - t];",
    "if (t == 0) byte[8] = 1; | x = byte[9];",
]
RACES = [
    "byte[t % 3] = 1;",
    "if (t == 0) byte[0] = 1; else x = byte[t & 2];",
    "if (t < 3) x = byte[t]; else byte[1] = 1;",
    "if (t == 0) byte[2] = 1; if (t < 2) x = byte[2];",
    "if (t == 0) half[0] = 1; if (t == 1) x = byte[1];",
    "if (t == 0) x = word; if (t == 1) byte[3] = 1;",
    "if (t == 0) byte[3] = 1; if (t == 1) word = 1;",
    "byte[t] = 1; | x = byte[3 - t]; | byte[t] = 2; x = byte[0];",
    "half[t] = 1; | if (t == 0) half[0] = 2; if (t == 1) x = byte[1];",
    "half[t] = 1; | if (t == 0) x = half[0]; if (t == 1) byte[1] = 2;",
    "byte[t] = 1; if (t == 3) atomicAdd(&word, 1);",
    "byte[t] = 1; | __threadfence_block(); byte[t] = 2; x = byte[3];",
    "byte[t] = 1; | byte[t] = 2; __threadfence_block(); x = byte[0];",
    "byte[t] = 1; if (t < 2) { __syncwarp(3); x = byte[2]; }",
    "byte[t] = 1; __syncwarp(t ? 14 : 1); x = byte[3 - t];",
]
UNINITIALIZED = "x = byte[8 + t];"
# What compilers call, and clang where a type is packed: of each, the last byte meets another thread, and the next one
# does not.
CALLS = [(f"__tsan_{packed}{way}{size}", size) for packed in ("", "unaligned_") for size in (2, 4, 8, 16)
         for way in ("read", "write", "volatile_read", "volatile_write")]
RACES += [f"words[t] = 0; | if (t == 0) {call}(byte); if (t == 3) "
          + (f"x = byte[{size - 1}];" if "write" in call else f"byte[{size - 1}] = 1;") for call, size in CALLS]
RIGHT += [f"words[t] = 0; | if (t == 0) {call}(byte); if (t == 3) byte[{size}] = 1;" for call, size in CALLS]
CASES = [*RIGHT, *RACES, UNINITIALIZED]

PROGRAM = "#include <stdlib.h>\n" + "".join(f'extern "C" void {call}(void *);\n' for call, _ in CALLS) + """
__global__ void kernel(int which, int *out) {
    __shared__ alignas(16) int words[5];
    int &word = words[0];
    unsigned char *byte = (unsigned char *)words;
    unsigned short *half = (unsigned short *)words;
    const int t = threadIdx.x;
    int x = 0;
    if (t == 0) words[0] = words[1] = 0;
    __syncthreads();
""" + "".join(f"    if (which == {number}) {{ {code.replace('|', '__syncthreads();')} __syncthreads(); }}\n"
              for number, code in enumerate(CASES)) + """
    out[t] = x;
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
    engine.build(PROGRAM)
    for number, code in enumerate(CASES):
        said = engine.run(str(number)).stderr
        found = "no mistakes found" if code in RIGHT else "race on shared memory" if code in RACES else "uninitialized"
        assert found in said, (code, said)
