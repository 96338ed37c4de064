# A .cu file with its own main(): build/program; under watch, build/program-check. Included by the
# Makefile and by engine/Makefile.

## make program KERNEL=p.cu build build/program from a .cu file with its own main()
##      CHECK=1             ... run it under watch: all mistakes, by line
##      ARGS="a b"          ... with these arguments
##      INCLUDE=folder      ... with headers of this folder
##      FIRST=1 JSON=1      ... stop at the first mistake; as one JSON object
##      TIMEOUT=s           ... seconds for the host's code, and for a block
.PHONY: program
own_program   = build/program$(if $(checked),-check)
takes_program = $(takes_build) CHECK ARGS INCLUDE FIRST JSON TIMEOUT
export ARGS
ifeq ($(filter-out 0,$(CHECK)),)
program: build/$(backend)/program FORCE
	@cmp -s $< $(own_program) || cp $< $(own_program)
else
checked = yes
program: build/check/program FORCE
	@cmp -s $< $(own_program) || cp $< $(own_program)
	@eval "set -- $$ARGS" && ENGINE_FIRST='$(FIRST)' ENGINE_JSON='$(JSON)' \
	    ENGINE_TIMEOUT='$(TIMEOUT)' exec $(own_program) "$$@"
endif

build/cpu/program: build/cpu/kernel.o build/libreport.a build/libruntime.a | build/cpu/kernel.spaces
	$(CXX) $(EMULATED_FLAGS) $(linked) -o $@ -lm

# What is linked around a host, and archives that need each other.
watched  = $(begin) build/check/guarded.o $(end) build/check/guards.o build/check/source.o
watching_archives = build/libengine.a build/libreport.a build/libruntime.a

# What begins before main() is named, because nothing calls it.
build/check/program: $(watched) build/c/engine/host/program/program.o build/libprogram.a \
        $(watching_archives) | build/check/kernel.spaces
	$(CXX) $(EMULATED_FLAGS) $(linked) -o $@ -lm
build/libprogram.a: build/c/engine/host/program/room.o

## make embed KERNEL=k.cu   what a host of your own is linked with: build/embed.rsp
takes_embed = $(takes_build)
embed: build/embed.rsp
# The files, in their order, for a compiler to read; README.md shows how.
build/embed.rsp: $(watched) $(watching_archives) | build/check/kernel.spaces
	@echo '$(linked) -lm -pthread' >$@
.PHONY: embed
