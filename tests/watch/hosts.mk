# Hosts of the engine that are no make check, each linked with the checked KERNEL: read behind the
# Makefile by test_engine.py.
# Their variables name the allocations.
build/c/tests/%.o: private C_FLAGS += -g
hosts = build/check/no_arrays build/check/typed_arrays build/check/kept_launches
build/check/no_arrays: build/cpu/tests/watch/no_arrays.o
build/check/typed_arrays: build/c/tests/watch/typed_arrays.o
build/check/kept_launches: build/c/tests/watch/kept_launches.o
$(hosts): $(begin) build/check/guarded.o $(end) build/check/guards.o build/check/source.o \
        build/libengine.a $(driver) build/libruntime.a | build/check/kernel.spaces
	$(CXX) $(EMULATED_FLAGS) $(linked) -o $@ -lm
