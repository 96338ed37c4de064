# CUDA on the CPU: a .cu file is preprocessed, rewritten to C++ (emulator/rewrite.c), compiled, and
# linked with the runtime. Included by the Makefile.

# No strict aliasing: kernels read float arrays through float4 pointers. No warning for comparing
# signed with unsigned, narrowing in dim3{...} or a pragma of nvcc's: that is everybody's style.
# With stack-clash protection a local array that is too large for a thread's stack meets the guard.
EMULATED_FLAGS = -std=c++17 -O3 -g -pthread -fno-strict-aliasing -fstack-clash-protection \
                 -Wall -Wno-sign-compare -Wno-unknown-pragmas -Wno-narrowing -Wno-unused-variable

# Compiled fast rather than fast: all kernels wait for it, and it runs for milliseconds.
build/c/emulator/rewrite.o: private C_FLAGS += -O1
build/cpu/rewrite: build/c/emulator/rewrite.o build/cpu/settings
	$(CC) $(C_FLAGS) $< -o $@

# So that a call that fails is still on the stack when the runtime looks up its caller.
build/c/emulator/runtime/%.o: private C_FLAGS += -fno-optimize-sibling-calls
build/libemulator.a: $(patsubst %.c,build/c/%.o,$(wildcard emulator/runtime/*.c))

# Preprocessed and rewritten at every make, but touched only when that gives something new: so
# whatever kernel.cu includes counts, and no name of a file has to go through make.
define preprocess
	@sh make/preprocess.sh emulator/include . build/cpu/rewrite \
	    "$(if $(filter kernel,$*),$$KERNEL,$*.cu)" $(basename $@) $(CXX) $(1) || \
	    { $(no_result); exit 2; }
	@cmp -s $(basename $@).new $@ || { $(no_result); mv $(basename $@).new $@; }
endef
no_result = $(if $(filter kernel,$*),rm -f $(program),:)

build/cpu/kernel.ii: build/cpu/kernel.source
build/cpu/%.ii: FORCE build/cpu/rewrite | $$(@D)/.
	$(call preprocess,$(EMULATED_FLAGS))

build/cpu/%.o: build/cpu/%.ii build/cpu/settings
	$(if $(filter kernel,$*),@$(say) "CXX $$KERNEL",$(progress))
	$(CXX) $(EMULATED_FLAGS) -x c++-cpp-output -c $< -o $@

build/cpu/sgemm: $(addprefix build/cpu/,kernel.o main.o support/launches.o source.o) \
                 build/libsupport.a build/libemulator.a
	@sh make/check_kernel.sh $<
	$(CXX) $(EMULATED_FLAGS) $^ -o $@ -lm

build/cpu/program: build/cpu/kernel.o build/libemulator.a
	$(CXX) $(EMULATED_FLAGS) $^ -o $@ -lm
