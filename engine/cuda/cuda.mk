# CUDA on the CPU: a .cu file is preprocessed, rewritten to C++ (rewrite.c), compiled, and
# linked with the runtime. Included by the Makefile and by engine/Makefile.

# No strict aliasing: kernels read float arrays through float4 pointers. No warning for comparing
# signed with unsigned, narrowing in dim3{...} or a pragma of nvcc's: that is everybody's style.
# Local variables without a value begin with a pattern, where the compiler can do that (gcc 12, clang):
# so both builds compute the same with it, and no zero happens to be there.
# With stack-clash protection a local array that is too large for a thread's stack meets the guard.
# gcc's -O3 takes twice as long to compile a large kernel; all that it gains is short loops unrolled.
EMULATED_FLAGS = -std=c++17 $(emulated_O_of_$(cxx_family)) -g -pthread -fno-strict-aliasing \
                 -fstack-clash-protection $(filled_locals) \
                 -Wall -Wno-sign-compare -Wno-unknown-pragmas -Wno-narrowing -Wno-unused-variable
# Two calls that look alike stay two: a launch is named by its line.
emulated_O_of_gcc   = -O2 -fpeel-loops -fno-tree-tail-merge -fno-crossjumping
emulated_O_of_clang = -O3
cxx_family = $(eval cxx_family := $$(if $$(findstring clang,$$(shell $$(CXX) --version)),clang,gcc))$(cxx_family)
filled_locals = $(eval filled_locals := $$(shell $$(CXX) $(fill_locals) -E -x c++ /dev/null \
    >/dev/null 2>&1 && echo $(fill_locals)))$(filled_locals)
fill_locals   = -ftrivial-auto-var-init=pattern

# Compiled fast rather than fast: all kernels wait for it, and it runs for milliseconds.
build/c/engine/cuda/rewrite.o: private C_FLAGS += -O0
build/cpu/rewrite: build/c/engine/cuda/rewrite.o build/cpu/settings
	$(CC) $(C_FLAGS) $< -o $@

# Around kernel.cu's object: program/extents.c. Without debug information, of which
# kernel.cu's is to come first.
begin = build/c/engine/cuda/program/kernel_begin.o
end   = build/c/engine/cuda/program/kernel_end.o
$(begin) $(end): private C_FLAGS += -g0

# So that a call that fails is still on the stack when the runtime looks up its caller.
build/c/engine/cuda/runtime/%.o: private C_FLAGS += -fno-optimize-sibling-calls
build/libruntime.a: $(filter-out $(begin) $(end),\
                      $(call objects_of,$(wildcard engine/cuda/runtime/*.c engine/cuda/program/*.c)))

preprocess = sh engine/cuda/preprocess.sh engine/cuda/include . build/cpu/rewrite
build/cpu/%.ii: %.cu $(wildcard engine/cuda/include/*.h) build/cpu/rewrite build/cpu/settings \
              | $$(@D)/.
	@$(preprocess) $< $(basename $@) $(CXX) $(EMULATED_FLAGS) $(headers) -MT $@
	@mv $(basename $@).new $@

# What is ours runs once around a kernel.
build/cpu/main.o build/cpu/engine/%.o build/cpu/grader/%.o build/cpu/$(LAB)/%.o: \
    private EMULATED_FLAGS += -O0 -g0
build/cpu/%.o: build/cpu/%.ii build/cpu/settings
	$(progress)
	$(CXX) $(EMULATED_FLAGS) -x c++-cpp-output -c $< -o $@

# kernel.cu is preprocessed and rewritten at every make, but touched only when that gives something
# new: so whatever it includes counts, and no name of a file has to go through make.
flags_cpu   = $(EMULATED_FLAGS) $(INCLUDE:%=-I%)
flags_check = $(CHECKED_FLAGS) $(INCLUDE:%=-I%)
build/cpu/kernel.ii build/check/kernel.ii: build/%/kernel.ii: build/%/kernel.source FORCE \
                                                              build/cpu/rewrite
	@$(preprocess) "$$KERNEL" $(basename $@) $(CXX) $(flags_$*) || { rm -f $(program); exit 2; }
	@cat $(basename $@).new $(basename $@).marked | cmp -s - $@.both || { rm -f $(program); \
	    cat $(basename $@).new $(basename $@).marked >$@.both; mv $(basename $@).new $@; }

# Compiled a second time, beside the first, to see who calls whom.
spaces = build/c/engine/cuda/spaces/room.o build/c/engine/cuda/program/dwarf.o
build/c/engine/cuda/program/dwarf.o: private C_FLAGS += -O0
build/cpu/spaces: $(spaces) build/cpu/settings
	$(CXX) $(EMULATED_FLAGS) $(spaces) -o $@

build/cpu/kernel.spaces build/check/kernel.spaces: build/%/kernel.spaces: build/%/kernel.ii \
        build/cpu/spaces engine/cuda/spaces/check_spaces.sh
	@sh engine/cuda/spaces/check_spaces.sh build/cpu/spaces $(basename $@).marked $(CXX) \
	    $(EMULATED_FLAGS) || { rm -f $(program); exit 2; }
	@touch $@

build/cpu/kernel.o: build/cpu/kernel.ii build/cpu/settings
	@$(say) "CXX $$KERNEL"
	$(CXX) $(EMULATED_FLAGS) -x c++-cpp-output -c $< -o $@
