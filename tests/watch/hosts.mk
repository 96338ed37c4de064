# Hosts of the engine that are no make check, each linked with the checked KERNEL: read behind the
# Makefile by test_engine.py.
# Their variables name the allocations.
build/c/tests/watch/%.o: tests/watch/%.c build/c/settings
	mkdir -p $(@D); . build/c/settings; $$CC $$C_FLAGS -g -c $< -o $@
hosts = build/check/no_arrays build/check/own_hosts
build/check/no_arrays: build/cpu/tests/watch/no_arrays.o
build/check/own_hosts: build/c/tests/watch/own_hosts.o
$(hosts): $(watched) $(driver) | build/check/kernel.spaces
	$(step) link $@ $^
