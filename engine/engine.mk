# The engine's rules, for the Makefile and engine/Makefile. No rule contains a given value: scripts read the environment.
step = sh engine/build.sh
.SUFFIXES .DELETE_ON_ERROR:
.PHONY: program embed FORCE
-include $(if $(filter %clean,$(MAKECMDGOALS)),,$(shell find build/c build/cpu build/cuda -name '*.d' 2>/dev/null))
report  := engine/report/ $(wildcard engine/report/*/)# a library: texts, cold.c (-O0), and for hot code warm.c and fast.c
runtime := engine/cuda/runtime/ engine/cuda/program/
engine  := engine/explain/ engine/watch/ $(wildcard engine/watch/*/)
fast    := $(patsubst %,engine/%.c,host/data cuda/runtime/block cuda/runtime/worker \
           $(addprefix watch/,access block detector event observe shadow/% record/counts record/reuse))
warm    := $(patsubst %,engine/%.c,explain/index/% watch/record/phases watch/record/trace watch/detectors/%)
alone   := %/extents.c engine/watch/fence.c# what not all programs are linked with
files   = $(filter-out %_begin.c %_end.c %/insert.c %/lab_json.c %/lessons.c %/writers_program.c,$(wildcard $($1:=*.c)))
texts   = cold warm fast
text_of = $(if $(filter cold,$2),$(filter-out $(fast) $(warm) $(alone),$(files)),$(filter $($2),$(files)))
objects_of = $(patsubst %.c,build/c/%.o,$(filter $(alone),$(files))) \
             $(foreach t,$(texts),$(and $(call text_of,$1,$t),build/c/$1/$t.o))
build/%/settings: FORCE                   ; sh engine/settings.sh $@ $(products)
build/cpu/settings build/cuda/settings: build/c/settings
build/check/settings: build/cpu/settings
build/c/%.o: %.c build/c/settings         ; $(step) c $@ $<
$(foreach 1,report runtime engine host check,$(eval build/lib$1.a: $(objects_of))$(eval $(texts:%=build/c/$1/%.o): $($1)))
$(foreach t,$(texts),$(eval build/c/%/$t.o: build/c/settings engine/engine.mk ; $$(step) texts $$@ $$(call text_of,$$*,$t)))
build/lib%.a:                             ; $(step) archive $@ $^
build/cpu/rewrite: build/c/engine/cuda/rewrite.o ; $(step) tool $@ $<
build/cpu/spaces: build/c/engine/cuda/spaces.o build/libruntime.a build/libreport.a ; $(step) link $@ $^
build/cpu/%.o: %.cu build/cpu/rewrite build/cpu/settings $(wildcard engine/cuda/include/*.h) ; $(step) cu $@ $<
build/%/prelude: build/cpu/rewrite build/%/settings $(wildcard engine/cuda/include/*) ; $(step) prelude $@
build/%/kernel.ii build/%/kernel.source: FORCE build/%/prelude ; $(step) text build/$*/kernel.ii
build/cpu/kernel.spaces: build/cpu/kernel.ii build/cpu/spaces ; $(step) spaces $@
build/cpu/kernel.o build/check/kernel.o: build/%/kernel.o: build/cpu/kernel.ii build/%/prelude ; $(step) kernel $@ $<
build/%/source.o: build/%/kernel.source build/c/settings ; $(step) carried $@ $<
build/%/guarded.o build/%/guards.o: build/%/kernel.o      ; $(step) guarded build/$*/guarded.o $<
watched = $(addprefix build/,c/engine/cuda/program/kernel_begin.o check/guarded.o c/engine/cuda/program/kernel_end.o \
            check/guards.o cpu/source.o libengine.a libreport.a libruntime.a)
built = $(if $(filter-out 0,$(CHECK)),check,$(backend))
program: build/$(built)/program ; $(step) program build/program$(filter -check,-$(built)) $<
build/cpu/program: build/cpu/kernel.o build/libreport.a build/libruntime.a | build/cpu/kernel.spaces ; $(step) linked $@ $^
build/check/program: $(watched) build/c/engine/host/program/program.o | build/cpu/kernel.spaces ; $(step) linked $@ $^
embed: $(watched) | build/cpu/kernel.spaces ; $(step) response build/embed.rsp $^
