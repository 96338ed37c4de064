# The SGEMM assignment: what builds ./sgemm. `make help` lists every target. The CPU backend,
# make check, the grader and what is for instructors have a .mk in their folders.

include make/values.mk # what was given is taken as it is
override LAB := $(or $(LAB),lab)
KERNEL  ?= $(if $(filter lab,$(LAB)),,$(LAB)/)kernel.cu
BACKEND ?= auto
ARCH    ?= native
PYTHON  ?= python3
VENV    ?= .venv
NVCC    ?= $(or $(shell command -v nvcc),$(wildcard /usr/local/cuda/bin/nvcc))
CC      := $(if $(filter default,$(origin CC)),cc,$(CC))
CXX     := $(if $(filter default,$(origin CXX)),c++,$(CXX))
ifneq ($(filter -%,$(firstword $(KERNEL))),)
override KERNEL := ./$(KERNEL)# or the compiler would take it for an option
endif
export KERNEL # recipes use "$$KERNEL": the path may hold spaces, quotes, anything

# What is built from a lab's folder: a program, and one with -check behind its name.
$(if $(wildcard $(LAB)/lab.c),,$(error LAB=$(LAB): no lab is there, for want of $(LAB)/lab.c))
program_name = $(if $(filter lab,$(LAB)),sgemm,$(notdir $(LAB)))

# As many jobs as cores, unless make was given a number: a cold build takes seconds, and students
# wait for it. What is removed is not built at the same time.
ifeq ($(filter -j% --jobs% clean distclean,$(MAKEFLAGS) $(MAKECMDGOALS)),)
MAKEFLAGS += -j$(or $(shell nproc 2>/dev/null),1)
endif

# One line a step, and on a terminal the file that is being compiled, until the next line. V=1 shows
# the commands, make -s nothing.
silent   = $(findstring s,$(firstword -$(MAKEFLAGS)))
say      = $(if $(silent),:,sh make/say.sh line)
progress = @$(if $(silent)$(filter 1,$(V)),:,sh make/say.sh file $<)

.SECONDEXPANSION:
.PHONY: all clean distclean help

## make                     build ./sgemm from kernel.cu
##      KERNEL=path.cu      ... from another file
##      BACKEND=cuda|cpu    ... for a GPU or the CPU (default: a GPU if any)
##      ARCH=sm_90          ... for this GPU (default: the one at hand)
##      V=1                 ... showing every command
## ./sgemm --help           how to run it
## ./sgemm-check --help     ... under watch: other sizes, loads, stores, phases
all: $(program_name)
takes_tools = ARCH CC CXX NVCC AR
takes_build = LAB KERNEL BACKEND $(takes_tools) C_FLAGS CUDA_FLAGS EMULATED_FLAGS CHECKED_FLAGS CHECKED_O
takes_all   = $(takes_build)
takes_$(program_name) = $(takes_build)

ifneq ($(filter-out 0,$(CHECK)),)
override BACKEND := cpu# nothing on a GPU sees as much
endif
include make/backend.mk # says what $(backend) is

$(program_name): build/backend build/$(backend)/$(program_name) FORCE
	@cmp -s build/$(backend)/$@ $@ || cp build/$(backend)/$@ $@
	@$(say) "./$@ is built from $$KERNEL, for $(target_$(backend))"

# ---------------------------------------------------------------- how files are compiled ---------

program = $(if $(filter program,$(MAKECMDGOALS)),$(own_program),$(if \
            $(filter build/check/%,$@),$(program_name)-check,$(program_name)))
check_tools = sh make/check_tools.sh $* '$(CC)' '$(CXX)' '$(AR)' '$(NVCC)' '$(ARCH)'
include engine/build.mk
build/cuda/settings: settings = $(NVCC), $(CUDA_FLAGS), $(C_FLAGS)

# One after the other, so that what a machine lacks is reported once. make check needs no GPU.
build/c/settings: | build/$(if $(filter check %-check,$(MAKECMDGOALS)),cpu,$(backend))/settings

# What main.cu leans on: no part of make check, which has libcheck.a and libengine.a beside them.
driver  = build/liblab.a build/libhost.a build/libreport.a
mistakes = $(or $(wildcard $(LAB)/mistakes),engine/host/no_mistakes)
rules   = $(filter-out %/lessons.c,$(wildcard $(mistakes)/*.c))
host    = $(wildcard engine/form/*.c engine/host/driver/*.c) $(filter-out %/lab_json.c,$(wildcard engine/host/*.c))
# Of a lab, its own files; those of its folders explain.
fast   += $(wildcard $(LAB)/*.c)
# One lab at a time: what is linked with it is linked again when it is another one.
lab_name = build/lab.name
build/lab.name: FORCE | build/.
	@echo '$(LAB)' | cmp -s - $@ || echo '$(LAB)' >$@
build/liblab.a: build/c/support.o $(call objects_of,$(mistakes)/lessons.c \
    $(filter-out $(mistakes)/%,$(wildcard $(LAB)/*.c $(LAB)/*/*.c))) build/lab.name
build/libhost.a: build/c/engine/cores.o $(call objects_of,$(host))

# The lab's description, for programs that are not C.
build/lab: build/c/engine/host/lab_json.o $(driver)
	$(CC) $(C_FLAGS) $(linked) -o $@ -lm
build/lab.sh: build/lab
	build/lab --shell >$@
build/lab.json: build/lab
	build/lab >$@

build/cpu/$(program_name): $(addprefix build/cpu/,kernel.o main.o $(LAB)/call.o engine/host/driver/launches.o source.o) \
        $(driver) build/libruntime.a | build/cpu/kernel.spaces build/lab.sh
	@sh make/check_kernel.sh build/lab.sh $<
	$(CXX) $(EMULATED_FLAGS) $(linked) -o $@ -lm

include make/cuda.mk engine/cuda/cuda.mk engine/watch/watch.mk engine/host/program/program.mk
# A student's copy has neither course/ nor instructor/, and no exporters.
include $(wildcard $(addsuffix .mk,engine/host/check/check grader/grader \
                                   grader/exporters/exporters course/course instructor/instructor))

## make clean, distclean    remove what was built; and the .venv
clean:
	rm -rf build $(program_name) $(program_name)-check
takes_clean = LAB

distclean: clean
	rm -rf $(VENV)
takes_distclean = LAB VENV

help:
	@sed -n 's/^## \{0,1\}//p' $(filter %Makefile %.mk,$(MAKEFILE_LIST))
takes_help =

include make/variables.mk
