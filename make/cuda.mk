# CUDA by nvcc. Included by the Makefile.

# Machine code for one GPU and no PTX, which the driver would translate when a program is loaded.
CUDA_FLAGS = -O3 $(patsubst sm_%,-arch=compute_%,$(arch)) -code=$(arch) -lineinfo

build/cuda/%.o: %.cu build/cuda/settings | $$(@D)/.
	$(progress)
	$(NVCC) $(CUDA_FLAGS) $(headers) -c $< -o $@

build/cuda/kernel.o: build/cuda/kernel.source build/cuda/settings
	@$(say) "NVCC $$KERNEL"
	$(NVCC) $(CUDA_FLAGS) -I . -x cu -c "$$KERNEL" -o $@

# What engine/host/driver/launches.cu intercepts.
launch_calls = cudaLaunchKernel __cudaLaunchKernel cudaLaunchKernelExC

build/cuda/$(program_name): $(addprefix build/cuda/,kernel.o main.o $(LAB)/call.o engine/host/driver/launches.o source.o) \
                  $(driver) | build/lab.sh
	@sh make/check_kernel.sh build/lab.sh $<
	$(NVCC) $(CUDA_FLAGS) $(addprefix -Xlinker --wrap=,$(launch_calls)) $(linked) -o $@ -lpthread

build/cuda/program: build/cuda/kernel.o
	$(NVCC) $(CUDA_FLAGS) $^ -o $@
