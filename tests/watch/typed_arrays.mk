# typed_arrays.c, linked with the checked KERNEL: read behind the Makefile by test_engine.py.
# Its variables name the allocations.
build/c/tests/watch/%.o: tests/watch/%.c build/c/settings
	mkdir -p $(@D); . build/c/settings; $$CC $$C_FLAGS -g -c $< -o $@
build/check/typed_arrays: $(watched) $(driver) build/c/tests/watch/typed_arrays.o | build/check/kernel.spaces
	$(step) link $@ $^
