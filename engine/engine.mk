# The engine's rules: C, a .cu file that becomes C++, a program under watch. Included by the Makefile and by
# engine/Makefile. No rule contains a value that was given: build.sh and settings.sh find it in their environment.
step = sh engine/build.sh
.SUFFIXES .DELETE_ON_ERROR:
.PHONY: program embed FORCE
-include $(if $(filter %clean,$(MAKECMDGOALS)),,$(shell find build/c build/cpu build/cuda -name '*.d' 2>/dev/null))
# For a short first build, a folder is compiled as two texts: room.c, not optimized, and fast.c, for what runs at each
# access, in each thread or over whole arrays. What has a main(), is linked elsewhere or comes from others is compiled alone.
fast  := $(patsubst %,engine/%.c,host/data explain/index/% $(addprefix cuda/runtime/,allocations block fiber launch memory \
         writers) $(addprefix watch/,access block detector% event fence observe shadow/% record/%))
alone := $(addprefix %/,kernel_begin.c kernel_end.c extents.c host_run.c insert.c lab_json.c lessons.c writers_program.c) \
         engine/watch/detectors/%.c $(wildcard $(LAB)/*.c)
cold   = $(filter-out $(fast) $(alone),$1)
objects_of = $(patsubst %.c,build/c/%.o,$(filter $(alone),$1)) $(patsubst %/,build/c/%/room.o,$(sort $(dir $(call cold,$1)))) \
             $(patsubst %/,build/c/%/fast.o,$(sort $(dir $(filter $(fast),$(filter-out $(alone),$1)))))
build/%/settings: FORCE                   ; sh engine/settings.sh $@ $(products)
build/cpu/settings build/cuda/settings: build/c/settings
build/check/settings: build/cpu/settings
build/c/%.o: %.c build/c/settings         ; $(step) c $@ $<
build/c/%/room.o: % build/c/settings engine/engine.mk ; $(step) texts $@ $(call cold,$(wildcard $*/*.c))
build/c/%/fast.o: % build/c/settings engine/engine.mk ; $(step) texts $@ $(filter $(fast),$(wildcard $*/*.c))
build/lib%.a:                             ; $(step) archive $@ $^
build/libreport.a:  $(call objects_of,$(wildcard engine/report/*.c engine/report/*/*.c))
build/libruntime.a: $(call objects_of,$(filter-out %_begin.c %_end.c,$(wildcard engine/cuda/runtime/*.c engine/cuda/program/*.c)))
build/libengine.a:  $(call objects_of,$(filter-out %/insert.c,$(wildcard engine/explain/*.c engine/watch/*.c engine/watch/*/*.c)))
build/cpu/rewrite: build/c/engine/cuda/rewrite.o ; $(step) tool $@ $<
build/cpu/spaces: build/c/engine/cuda/spaces/room.o build/c/engine/cuda/program/dwarf.o ; $(step) link $@ $^
build/cpu/%.o: %.cu build/cpu/rewrite build/cpu/settings $(wildcard engine/cuda/include/*.h) ; $(step) cu $@ $<
build/%/kernel.ii build/%/kernel.source: FORCE build/cpu/rewrite build/%/settings ; $(step) text build/$*/kernel.ii
build/%/kernel.spaces: build/%/kernel.ii build/cpu/spaces ; $(step) spaces $@
build/cpu/kernel.o build/check/kernel.o: build/%/kernel.o: build/%/kernel.ii build/%/settings ; $(step) kernel $@
build/%/source.o: build/%/kernel.source build/c/settings $(lab_name) ; $(step) carried $@ $<
build/%/guarded.o build/%/guards.o: build/%/kernel.o      ; $(step) guarded build/$*/guarded.o $<
watched = $(addprefix build/,c/engine/cuda/program/kernel_begin.o check/guarded.o c/engine/cuda/program/kernel_end.o \
            check/guards.o check/source.o libengine.a libreport.a libruntime.a)
built = $(if $(filter-out 0,$(CHECK)),check,$(backend))
program: build/$(built)/program ; $(step) program build/program$(filter -check,-$(built)) $<
build/cpu/program: build/cpu/kernel.o build/libreport.a build/libruntime.a | build/cpu/kernel.spaces ; $(step) linked $@ $^
build/check/program: $(watched) build/c/engine/host/program/room.o | build/check/kernel.spaces ; $(step) linked $@ $^
embed: $(watched) | build/check/kernel.spaces ; $(step) response build/embed.rsp $^
