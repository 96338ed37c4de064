# Which backend BACKEND=auto is, $(backend), and why; and what GPU is compiled for, $(arch).

# The architecture of the GPU at hand; nothing where none answers.
gpu = $(eval gpu := $$(shell sh make/gpu_arch.sh 2>/dev/null))$(gpu)
arch = $(if $(filter native,$(ARCH)),$(gpu),$(ARCH))
no_gpu = $(if $(gpu),,nvcc is here, but no GPU answers)
why_cpu = $(if $(NVCC),$(no_gpu),there is no nvcc here)
ifeq ($(BACKEND),auto)
backend = $(eval backend := $$(if $$(why),cpu,cuda))$(backend)
why = $(eval why := $$(why_cpu))$(why)
else
ifeq ($(filter cpu-1 cuda-1,$(BACKEND)-$(words $(BACKEND))),)
$(error BACKEND=$(BACKEND): it is auto, cuda or cpu)
endif
backend := $(BACKEND)
why := BACKEND=$(BACKEND)
endif
target_cpu  = the CPU
target_cuda = a GPU ($(arch))
say_cpu  = CPU backend: $(why)
say_cuda = CUDA backend: $(or $(why),nvcc and a GPU are here) (ARCH=$(arch))

# Printed when it is another than last time.
build/backend: FORCE | $$(@D)/.
	@echo '$(say_$(backend))' | cmp -s - $@ || { \
	    echo '$(say_$(backend))' >$@; $(say) '$(say_$(backend))'; }
