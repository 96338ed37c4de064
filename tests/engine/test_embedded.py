"""A host of one's own, linked with a kernel under watch: engine.h, as engine/README.md shows it."""

import re
import subprocess

from alone import ENGINE, text_of, the_engine

KERNEL = text_of("reduction").split("int main")[0] + '''
void sum(const float *in, float *out, int n) {
    kernel<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(in, out, n);
}
'''


def test_the_readmes_host() -> None:
    engine = the_engine()
    (host,) = re.findall(r"```cuda\n(.*?)```", (ENGINE / "README.md").read_text(), re.DOTALL)
    (command,) = re.findall(r"^    (c\+\+ .*)$", (ENGINE / "README.md").read_text(), re.MULTILINE)
    engine.write(host, "host.cu")
    said = []
    for kernel in (KERNEL, KERNEL.replace("out[blockIdx.x] =", "out[blockIdx.x + 1] ="),
                   KERNEL.replace("        __syncthreads();\n", "")):
        engine.write(kernel, "kernel.cu")
        made = engine.make("embed", "build/cpu/host.o", "KERNEL=kernel.cu")
        assert made.returncode == 0, made.stderr
        subprocess.run(command, shell=True, cwd=engine.path, check=True)
        said.append(subprocess.run(["./host"], cwd=engine.path, capture_output=True, text=True,
                                   check=False).stdout)
    assert said[0] == "nothing was found in 1 launch\n"
    assert said[1].startswith("kernel.cu:15: ") and "writes out[8], but out has 8 elements" in said[1]
    assert "reads part[1], which thread (1,0) stores" in said[2]  # named, though the host has debug information, too
