# How files are compiled, archived and linked. Included by the Makefile and by engine/Makefile, which
# say what the compilers are, how a step is announced ($(say) and $(progress)), which program a kernel.cu
# becomes ($(program)), and what looks at the tools first ($(check_tools)).

# These are parts of commands: with a sign that a shell acts on, what is given would run.
define newline


endef
acted_on := $$ ` ; & | < > \# '
parts_of_commands = CC CXX AR NVCC PYTHON C_FLAGS CUDA_FLAGS EMULATED_FLAGS CHECKED_FLAGS CHECKED_O ARGS INCLUDE FIRST \
    JSON TIMEOUT GRADE_ARGS CASES_ARGS RELEASE_ARGS
# In ARGS, quotes keep words together.
$(foreach name,$(parts_of_commands),$(if $(filter-out undefined default,$(origin $(name))),\
    $(foreach one,$(if $(filter ARGS,$(name)),$(filter-out ',$(acted_on)),$(acted_on)),\
        $(if $(findstring $(one),$($(name))),\
            $(error $(name)=$($(name)): a shell would act on $(one), so this is not taken)))\
    $(if $(findstring $(newline),$($(name))),$(error $(name): this is more than one line))))

ifneq ($(V),1)
.SILENT:
endif
.SUFFIXES:
.SECONDEXPANSION:
.DELETE_ON_ERROR:
.PRECIOUS: %/. build/c/%/room.c build/%/settings build/%/kernel.source build/cpu/%.ii
.PHONY: writable FORCE

C_FLAGS = -std=c11 -O2 -Wall -Wextra -pthread

# Objects lie as their sources do, below build/c (C), build/cuda (nvcc), build/cpu and build/check
# (cuda/cuda.mk). A compiler writes beside each which headers it has read.
headers = -MMD -MP -MF $(basename $@).d
-include $(shell find build/c build/cuda build/cpu -name '*.d' 2>/dev/null)

build/c/%.o: %.c build/c/settings | $$(@D)/.
	$(progress)
	$(CC) $(C_FLAGS) $(headers) -c $< -o $@

# Everybody waits for a first build. So the files of a folder are one text, room.c, and not optimized,
# which takes a fifth of the time: a static name is unique in its folder. What runs at each access, in
# each thread, or over whole arrays is among the fast ones, optimized, file by file; what is alone has
# a main() of its own, is linked with something else, or is a detector, which can be added.
fast := $(patsubst %,engine/cuda/runtime/%.c,allocations block fiber launch memory writers) \
        $(patsubst %,engine/watch/%.c,access block detector detectors event fence) engine/host/data.c \
        $(wildcard engine/watch/shadow/*.c engine/watch/record/*.c engine/explain/index/*.c)
alone := $(patsubst %,\%/%.c,kernel_begin kernel_end extents host_run insert lab_json writers_program \
            program lessons) $(wildcard engine/watch/detectors/*.c)
objects_of = $(patsubst %.c,build/c/%.o,$(filter $(fast) $(alone),$1)) \
             $(patsubst %/,build/c/%/room.o,$(sort $(dir $(filter-out $(fast) $(alone),$1))))
build/c/%/room.c: % $$(wildcard $$*/*.c) engine/build.mk | $$(@D)/.
	printf '#include "%s"\n' $(filter-out $(fast) $(alone),$(filter %.c,$^)) >$@
build/c/%/room.o: build/c/%/room.c build/c/settings
	$(progress)
	$(CC) $(C_FLAGS) -O0 -D_GNU_SOURCE= -I. $(headers) -c $< -o $@

build/lib%.a: | $$(@D)/.
	@rm -f $@
	$(AR) rcs $@ $(filter %.o,$^)

# Archives that need each other are in a group.
grouped = $(filter-out %.a,$1) -Xlinker --start-group $(filter %.a,$1) -Xlinker --end-group
linked  = $(call grouped,$^)

%/.: | writable
	mkdir -p $@

writable:
	@test -w . || { \
	    echo 'this folder cannot be written: copy it (cp -r), and run make in the copy' >&2; exit 2; }
	@test ! -e build || test -w build || { \
	    echo 'build/ cannot be written: remove it as the user it belongs to' >&2; exit 2; }

# Rewritten when the compilers or flags differ from last time, which rebuilds everything.
build/c/settings:   settings = $(CC), $(C_FLAGS)
build/cpu/settings: settings = $(CC), $(C_FLAGS), $(CXX), $(EMULATED_FLAGS)
build/%/settings: FORCE | $$(@D)/.
	@echo '$(settings)' | cmp -s - $@ || { $(check_tools) && echo '$(settings)' >$@; }

# What a program is built from, the name of kernel.cu and its bytes, which it carries along: so it
# can say when the file has changed since. A build that fails leaves no older program.
build/%/kernel.source: FORCE build/%/settings
	@test -f "$$KERNEL" || { rm -f $(program); \
	    echo "$$KERNEL: no such file; KERNEL=... names the .cu file to build" >&2; exit 2; }
	@{ printf '%s\0' "$$KERNEL"; cat "$$KERNEL"; } | cmp -s - $@ || { rm -f $(program); \
	    { printf '%s\0' "$$KERNEL"; cat "$$KERNEL"; } >$@; }

build/%/source.o: engine/report/text/source.S build/%/kernel.source build/%/settings $(lab_name)
	$(CC) -DKERNEL_SOURCE='"build/$*/kernel.source"' -DLAB='"$(filter-out lab,$(LAB))"' -c $< -o $@

build/libreport.a: $(call objects_of,$(wildcard engine/report/*.c engine/report/*/*.c))

FORCE:
