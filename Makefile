# `make` builds the assignment's program from kernel.cu; `make help` prints the lines that begin with ##. Then come what
# can be given, the programs, and what they are made of; how that is built is in engine/engine.mk and engine/build.sh.

## make             build ./sgemm from kernel.cu                     KERNEL LAB
## make check       name the first mistake: its line, threads, hint  KERNEL LAB
## make walk        play back how a block ran, in a browser          KERNEL LAB
##                                                           SHAPE BLOCK LAUNCH
## make program     build a file with its own main(); CHECK=1: run it with checks
##                         KERNEL CHECK ARGS INCLUDE FIRST JSON TIMEOUT
## make embed       build what a host of your own links with     KERNEL INCLUDE
## make clean, distclean    remove what was built; distclean: also .venv   LAB
## ./sgemm --help, ./sgemm-check --help    other sizes, inputs, loads, phases
##
##   KERNEL=other.cu            instead of kernel.cu
##   SHAPE=40 BLOCK=1,0         play back this size (or all sizes) and this block
##   BACKEND=cpu                cpu or cuda; default: cuda with a GPU and nvcc
##   ARCH=sm_90                 for this GPU, even on a machine without one
##   V=1                        show every command

# What is given is a value: make expands nothing in it. No rule contains one, but scripts find them in the environment.
GIVEN := $(foreach name,$(.VARIABLES),$(if $(findstring command line,$(origin $(name))),$(name)))
$(foreach name,$(filter-out SHELL MAKE% -*-%,$(GIVEN)),$(eval export override $(name) := $$(value $(name))))
# In the environment these are about something else (WSL sets NAME), so there they are not read.
$(foreach name,$(filter-out $(GIVEN),LAB NAME SEED JOBS LIMIT PROTECTION QUEUE SLURM ACCEPT GRADE_ARGS DIR TILE FAULTY \
    SHAPE BLOCK LAUNCH CHECK ARGS INCLUDE FIRST JSON TIMEOUT),$(eval override undefine $(name)))
LAB ?= lab
export override LAB := $(patsubst %/,%,$(LAB))# as a shell completes it
export KERNEL ?= $(if $(filter lab,$(LAB)),,$(LAB)/)kernel.cu
export BACKEND ?= auto

# What no target takes, of the words in capitals above, is refused; else: program, backend, its GPU, and why this one.
makefiles := Makefile grader/grader.mk $(filter-out engine/% grader/grader.mk,$(sort $(wildcard */*.mk)))
names  := $(if $(filter 0,$(MAKELEVEL)),$(GIVEN))# a make within a make is handed all of them
quoted  = '$(subst ','\'',$(value $1))'
asked  := $(shell $(foreach one,LAB BACKEND $(filter NVCC,$(GIVEN)),$(one)=$(call quoted,$(one))) \
              sh engine/asked.sh $(call quoted,MAKECMDGOALS) $(call quoted,names) $(makefiles))
name   := $(firstword $(asked))
backend := $(word 2,$(asked))
$(if $(filter cpu cuda,$(backend)),,$(error $(wordlist 2,99,$(asked))))
export GPU := $(filter sm_%,$(word 3,$(asked)))
export WHY := $(wordlist 4,99,$(asked))
goals  := $(patsubst $(name)-check,check,$(patsubst $(name),all,$(or $(MAKECMDGOALS),all)))

# As many jobs as cores, but not beside clean, nor in a make within a make. V=1 shows the commands, make -s nothing.
ifeq ($(filter-out 0,$(MAKELEVEL))$(filter -j% --jobs% clean distclean,$(MAKEFLAGS) $(MAKECMDGOALS)),)
MAKEFLAGS += -j$(or $(shell nproc 2>/dev/null),1)
endif
export SILENT = $(findstring s,$(firstword -$(MAKEFLAGS)))
ifneq ($(value V),1)
.SILENT:
endif
.DEFAULT_GOAL = all
.PHONY: all check walk clean distclean help
host  := engine/ engine/form/ engine/host/ engine/host/driver/
check := $(wildcard engine/explain/*/) engine/show/ $(wildcard engine/show/*/) engine/host/check/
include engine/engine.mk

# ---------------------------------------------------------------- programs ---------------------------------------

# What this make builds: no older one is left if it fails.
products = $(if $(filter all,$(goals)),$(name)) $(if $(filter check walk,$(goals)),$(name)-check) \
           $(if $(filter program,$(goals)),build/program$(filter -check,-$(built)))
plain   := $(if $(filter check,$(MAKECMDGOALS)),build/cpu/$(name))
all: $(name)
$(name): build/backend build/$(backend)/$(name) FORCE       ; $(step) ready $@ build/$(backend)/$(name)
build/backend: build/$(backend)/settings FORCE              ; $(step) backend $@ $(backend)
$(name)-check: build/check/$(name)-check FORCE              ; cp $< $@
check: $(name)-check $(plain)                               ; ./$< --plain $(plain)
walk: $(name)-check
	rm -f build/walk.html # an older run's, if this one has nothing to show
	set -f; ./$< --walk build/walk.html $${BLOCK:+--block "$$BLOCK"} $${LAUNCH:+--launch "$$LAUNCH"} $$SHAPE || \
	    test $$? -eq 1 # a mistake was found, and is in the page
clean:            ; rm -rf build $(name) $(name)-check
distclean: clean  ; rm -rf "$${VENV:-.venv}"
help:             ; sed -n '/^##/{ s/^## \{0,1\}//; s/sgemm/$(name)/g; p; }' $(makefiles)

# ---------------------------------------------------------------- what they are made of --------------------------

driver   = build/liblab.a build/libhost.a build/libreport.a
runs_lab = build/cpu/engine/host/host.o build/cpu/$(LAB)/call.o $(driver) build/libruntime.a
linked   = kernel.o main.o $(LAB)/call.o engine/host/driver/launches.o source.o
build/cpu/$(name): $(addprefix build/cpu/,$(linked)) $(driver) build/libruntime.a | build/cpu/kernel.spaces build/lab.sh
	$(step) lab $@ $^
build/cuda/$(name): $(addprefix build/cuda/,$(linked)) $(driver) | build/lab.sh
	$(step) lab $@ $^ $(addprefix -Xlinker --wrap=,cudaLaunchKernel __cudaLaunchKernel cudaLaunchKernelExC)
build/cuda/program: build/cuda/kernel.o                     ; $(step) link $@ $^
build/cuda/kernel.o: build/cuda/kernel.source build/cuda/settings ; $(step) kernel $@
build/cuda/kernel.source: FORCE build/cuda/settings         ; $(step) source $@
build/cuda/%.o: %.cu build/cuda/settings                    ; $(step) cu $@ $<

# The lab: its data and truth; and what explains its mistakes.
$(LAB)/truth    := $(filter-out $(LAB)/mistakes/,$(sort $(dir $(wildcard $(LAB)/*.c $(LAB)/*/*.c))))
$(LAB)/mistakes := $(or $(wildcard $(LAB)/mistakes/),engine/host/no_mistakes/)
alone           += $(LAB)/lab.c# a submission's process has it, but none of the truth
fast            += $(filter-out $(alone),$(wildcard $(LAB)/*.c))
$(patsubst %,build/c/$(LAB)/%.o,truth/cold truth/fast mistakes/cold): $($(LAB)/truth) $($(LAB)/mistakes)
build/lab.name: FORCE build/c/settings                      ; $(step) keep $@ $(LAB)
build/liblab.a: build/c/support.o build/c/$($(LAB)/mistakes)lessons.o $(call objects_of,$(LAB)/truth) build/lab.name
build/libcheck.a: $(call objects_of,$(LAB)/mistakes) build/lab.name
build/lab: build/c/engine/host/lab_json.o $(driver)         ; $(step) tool $@ $^
build/lab.sh build/lab.json: build/lab                      ; build/lab $(if $(filter %.sh,$@),--shell) >$@

# Under watch: with kernel.cu, what explains; beside it the plain program; and within it the commands that make two more
# when they are asked for: writers says which blocks write, locals knows local variables. What is plain comes first, so
# that what does not compile or link is reported once.
explains = build/check/walk_page.o build/libcheck.a build/libengine.a $(runs_lab)
asks     = build/check/writers_command.o build/check/locals_command.o
writers  = build/cpu/kernel.o build/cpu/source.o build/c/engine/host/check/writers_program.o $(runs_lab)
locals   = $(patsubst build/check/guard%,build/check/locals_guard%,$(watched)) $(explains)
build/check/$(name)-check: $(watched) $(asks) $(explains) | $(writers) build/check/insert build/cpu/kernel.spaces \
        build/lab.sh $(plain) ; $(step) lab $@ $^
$(if $(filter check walk,$(goals)),build/check/kernel.o): | build/cpu/kernel.o
build/check/insert: build/c/engine/watch/locals/insert.o    ; $(step) tool $@ $<
build/check/writers_command: FORCE build/c/settings  ; $(step) keep $@ $(step) writers build/check/writers $(writers)
build/check/locals_command: FORCE build/c/settings   ; $(step) keep $@ $(step) locals build/check/locals $(locals)
$(asks): build/check/%.o: build/check/% build/c/settings ; $(step) embed $@ $<
build/check/walk_page.o: $(wildcard engine/show/page/view/*) engine/show/page/page.sh build/c/settings
	$(step) page $@

include $(filter-out Makefile,$(makefiles))
