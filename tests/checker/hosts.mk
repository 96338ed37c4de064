# Hosts of the engine that are no make check, each linked with the checked KERNEL: read behind the
# Makefile by test_engine.py.
build/check/no_arrays: build/check/%: $(begin) build/check/guarded.o $(end) build/check/guards.o \
        build/cpu/tests/checker/%.o build/check/source.o build/libengine.a $(driver) \
        build/libruntime.a | build/check/kernel.spaces
	$(CXX) $(EMULATED_FLAGS) $(linked) -o $@ -lm
