"""Faults: edits of the five correct programs, each with the kind of mistake that it makes.

`old` stands once in the program. The mistake is to be named at the line that is marked with `!!` in
`new`, which a comment in the program then holds.
"""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    program: str
    kind: str
    old: str
    new: str

    def apply(self, text: str) -> tuple[str, list[int]]:
        """The program with the mistake, and the lines of which one is to be named."""
        assert text.count(self.old) == 1, f"{self.old!r} stands {text.count(self.old)} times"
        marked = text.replace(self.old, self.new.replace("!!", "// !!"))
        return marked, [i for i, line in enumerate(marked.splitlines(), 1) if "// !!" in line]


PROGRAMS = ("reduction", "scan", "histogram", "stencil", "transpose")

# In the host's code, which reads alike in all five.
LAUNCH = "    kernel<<<grid, block>>>(d_in, d_out, n);"
BACK = "    cudaMemcpy(out, d_out, out_bytes, cudaMemcpyDeviceToHost);"
HOST = {
    "bad-launch": (LAUNCH, "    kernel<<<grid, dim3(64, 32)>>>(d_in, d_out, n); !!"),
    "failed-call": (BACK, BACK.replace("out_bytes", "out_bytes + 4") + " !!"),
    "device-pointer-on-host": (LAUNCH, f"{LAUNCH}\n    out[0] = d_out[0]; !!"),
    "leak": ("    cudaMalloc(&d_in, in_bytes);",
             "    cudaMalloc(&d_in, in_bytes);\n"
             "    float *spare;\n"
             "    cudaMalloc(&spare, in_bytes); !!"),
}

# What reads `in`, stores `out`, and the barrier behind what is stored in shared memory.
LOADS = {
    "reduction": "    part[t] = i < n ? in[i] : 0;",
    "scan": "    sums[now][t] = i < n ? in[i] : 0;",
    "histogram": "        atomicAdd(&counts[in[i]], 1);",
    "stencil": "            tile[v][u] = inside ? in[row * n + col] : 0;",
    "transpose": "    if (x < n && y < n) tile[v][u] = in[y * n + x];",
}
STORES = {
    "reduction": "    if (t == 0) out[blockIdx.x] = part[0];",
    "scan": "    if (i < n) out[i] = sums[now][t];",
    "histogram": "    if (t < BINS) atomicAdd(&out[t], counts[t]);",
    "stencil": "    if (x < n && y < n) out[y * n + x] = sum / 5;",
    "transpose": "    if (col < n && row < n) out[row * n + col] = tile[u][v];",
}
MEANT = {  # the element of `in` that a thread reads; of `out`, that it stores
    "reduction": ("in[i]", "out[blockIdx.x]"),
    "scan": ("in[i]", "out[i]"),
    "histogram": ("in[i]", "out[t]"),
    "stencil": ("in[row * n + col]", "out[y * n + x]"),
    "transpose": ("in[y * n + x]", "out[row * n + col]"),
}


def of_loads_and_stores() -> list[Fault]:
    made = []
    for program in PROGRAMS:
        load, store = LOADS[program], STORES[program]
        read, written = MEANT[program]
        typed = "int" if program in ("scan", "histogram") else "float"
        pair = f"{typed}2"
        made += [
            Fault(program, "out-of-bounds", load, load.replace(read, read[:-1] + " + n * n]") + " !!"),
            Fault(program, "out-of-bounds", store, store.replace(written, written[:-1] + " + n * n]")
                  + " !!"),
            Fault(program, "misaligned", store,
                  f"    const {pair} two = *(const {pair} *)(in + 1); !!\n"
                  f"    if (two.x + two.y == -5) return;\n{store}"),
            Fault(program, "local-out-of-bounds", store,
                  f"    {typed} own[4] = {{0, 1, 2, 3}};\n"
                  f"    for (int j = 0; j <= 4; j++) own[j] += 1; !!\n"
                  f"    if (own[n % 4] == -5) return;\n{store}"),
            Fault(program, "endless", store,
                  f"    for (volatile int j = 0; j < 2;) j = n > 0 ? 0 : 2; !!\n{store}"),
            Fault(program, "kernel-fault", store,
                  f"    const int none = n - n; volatile int j = n / none; !!\n{store}"),
        ]
    return made


def of_hosts() -> list[Fault]:
    made = []
    for program in PROGRAMS:
        load = LOADS[program]
        made += [Fault(program, kind, *edit) for kind, edit in HOST.items()]
        # Two edits in one: the mistake is in the host's code, the line that meets it in the kernel's.
        made += [Fault(program, kind, load, load + " !!") for kind in ALSO]
    return made


# Further edits, of the launch, for kinds whose line is another one than the mistake's.
ALSO = {
    "host-pointer-on-device": (LAUNCH, LAUNCH.replace("d_in", "in")),
    "freed-memory": (LAUNCH, f"    cudaFree(d_in);\n{LAUNCH}"),
}

OWN = [
    # Without the barrier, or with it where half of a warp does not come.
    Fault("reduction", "shared-race",
          "        __syncthreads();\n        if (t < half) part[t] += part[t + half];",
          "        if (t < half) part[t] += part[t + half]; !!"),
    Fault("scan", "shared-race",
          "        __syncthreads();\n        sums[1 - now][t] = t >=",
          "        !!\n        sums[1 - now][t] = t >="),
    Fault("histogram", "shared-race", "        atomicAdd(&counts[in[i]], 1);",
          "        counts[in[i]] += 1; !!"),
    Fault("stencil", "shared-race", "    __syncthreads();\n    const int v = threadIdx.y + 1",
          "    const int v = threadIdx.y + 1"),
    Fault("transpose", "shared-race",
          "    __syncthreads();\n", ""),

    Fault("reduction", "global-race", "out[blockIdx.x] = part[0];", "out[0] = part[0]; !!"),
    Fault("scan", "global-race", "    if (i < n) out[i] = sums[now][t];",
          "    out[t] = sums[now][t]; !!"),
    Fault("histogram", "global-race", "atomicAdd(&out[t], counts[t]);", "out[t] += counts[t]; !!"),
    Fault("stencil", "global-race", "out[y * n + x] = sum / 5;", "out[x] = sum / 5; !!"),
    Fault("transpose", "global-race", "out[row * n + col] = tile[u][v];", "out[col] = tile[u][v]; !!"),

    Fault("reduction", "uninitialized-shared",
          "    part[t] = i < n ? in[i] : 0;", "    if (i < n) part[t] = in[i];"),
    Fault("scan", "uninitialized-shared",
          "    sums[now][t] = i < n ? in[i] : 0;", "    if (i < n) sums[now][t] = in[i];"),
    Fault("histogram", "uninitialized-shared",
          "    if (t < BINS) counts[t] = 0;\n", ""),
    Fault("stencil", "uninitialized-shared",
          "            tile[v][u] = inside ?", "            if (inside) tile[v][u] = inside ?"),
    Fault("transpose", "uninitialized-shared",
          "    if (x < n && y < n) tile[v][u]", "    if (x < n && y < n && u < 8) tile[v][u]"),

    Fault("reduction", "uninitialized-global", "out[blockIdx.x] = part[0];",
          "out[blockIdx.x] += part[0]; !!"),
    Fault("scan", "uninitialized-global", "out[i] = sums[now][t];", "out[i] += sums[now][t]; !!"),
    Fault("histogram", "uninitialized-global", "    cudaMemset(d_out, 0, out_bytes);\n", ""),
    Fault("stencil", "uninitialized-global", "out[y * n + x] = sum / 5;",
          "out[y * n + x] += sum / 5; !!"),
    Fault("transpose", "uninitialized-global", "out[row * n + col] = tile[u][v];",
          "out[row * n + col] += tile[u][v]; !!"),

    Fault("reduction", "shared-out-of-bounds", "part[t] += part[t + half];",
          "part[t] += part[t + half + BLOCK / 2]; !!"),
    Fault("scan", "shared-out-of-bounds", "sums[now][t] + sums[now][t - step] : sums[now][t];",
          "sums[now][t] + sums[2 * now][t - step] : sums[now][t]; !!"),
    Fault("histogram", "shared-out-of-bounds", "    if (t < BINS) counts[t] = 0;",
          "    counts[t] = 0; !!"),
    Fault("stencil", "shared-out-of-bounds", "const int v = threadIdx.y + 1, u = threadIdx.x + 1;",
          "const int v = threadIdx.y + 1, u = threadIdx.x + 2;"),
    Fault("transpose", "shared-out-of-bounds", "= tile[u][v];", "= tile[u][v + 2]; !!"),
]

# A barrier where the odd threads wait, and one where the even ones do.
BARRIERS = "if (threadIdx.x % 2)\n{0}    __syncthreads(); !!\n{0}else\n{0}    __syncthreads(); !!\n"
DIVERGENT = [
    Fault(program, "divergent-barrier", barrier, indent + BARRIERS.format(indent) + behind)
    for program, indent, behind in (
        ("reduction", "        ", "        if (t < half)"),
        ("scan", "        ", "        sums[1 - now][t] ="),
        ("histogram", "    ", "    for (int i = blockIdx.x"),
        ("stencil", "    ", "    const int v = threadIdx.y + 1"),
        ("transpose", "    ", "    const int col"))
    for barrier in (f"{indent}__syncthreads();\n{behind}",)
]

# Where the mistake is what is missing: the line that meets it.
MET_AT = {
    ("scan", "shared-race"): "sums[1 - now][t] = t >=",
    ("stencil", "shared-race"): "const float sum =",
    ("transpose", "shared-race"): "= tile[u][v];",
    ("reduction", "uninitialized-shared"): "part[t] += part[t + half];",
    ("scan", "uninitialized-shared"): "sums[1 - now][t] = t >=",
    ("histogram", "uninitialized-shared"): "atomicAdd(&counts[in[i]], 1);",
    ("stencil", "uninitialized-shared"): "const float sum =",
    ("transpose", "uninitialized-shared"): "= tile[u][v];",
    ("histogram", "uninitialized-global"): "atomicAdd(&out[t], counts[t]);",
    ("stencil", "shared-out-of-bounds"): "const float sum =",
}

FAULTS = [*OWN, *DIVERGENT, *of_loads_and_stores(), *of_hosts()]


def made(fault: Fault, text: str) -> tuple[str, list[int]]:
    """The faulty program, and the lines of which one is to be named."""
    if fault.kind in ALSO:
        text = text.replace(*ALSO[fault.kind])
    text, lines = fault.apply(text)
    met = MET_AT.get((fault.program, fault.kind))
    if met:
        lines = [i for i, line in enumerate(text.splitlines(), 1) if met in line]
    assert lines, "no line is marked"
    return text, lines
