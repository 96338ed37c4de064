# own_hosts.c, linked with the checked KERNEL: read behind the Makefile by test_engine.py.
# Its variables name the allocations.
build/c/tests/watch/%.o: tests/watch/%.c build/c/settings
	mkdir -p $(@D); . build/c/settings; $$CC $$C_FLAGS -g -c $< -o $@
build/check/own_hosts: $(watched) $(driver) build/c/tests/watch/own_hosts.o | build/check/kernel.spaces
	$(step) link $@ $^
