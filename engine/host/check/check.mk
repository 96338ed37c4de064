# make check: kernel.cu under watch (engine/watch/watch.mk), called by the engine's host. Included by
# the Makefile.

.PHONY: check walk
export SHAPE BLOCK LAUNCH

## make check               name the first mistake of kernel.cu, or of KERNEL=...
## make walk                play back how one block ran, in a browser
##      SHAPE="6 7 5"       ... of these sizes
##      BLOCK=1,0           ... this block
##      LAUNCH=2            ... this launch, where there are several
checker = $(program_name)-check
check: $(checker) build/check/plain
	@./$(checker) --plain build/check/plain
takes_check = $(takes_build)
takes_$(checker) = $(takes_build)

walk: $(checker)
	@rm -f build/walk.html # it would be an older run's, if this one has nothing to show
	@set -f; ./$(checker) --walk build/walk.html $${BLOCK:+--block "$$BLOCK"} \
	    $${LAUNCH:+--launch "$$LAUNCH"} $$SHAPE || \
	    test $$? -eq 1 # a mistake was found, and is in the page
takes_walk = $(takes_build) SHAPE BLOCK LAUNCH

$(checker): build/check/$(checker) FORCE
	@cmp -s $< $@ || cp $< $@

# What is linked with kernel.cu's object and its guards.
checked_parts = $(addprefix build/cpu/,engine/host/check/check_run.o engine/host/host.o $(LAB)/call.o) \
                build/check/source.o build/check/walk_page.o build/libcheck.a build/libengine.a $(driver) build/libruntime.a

# What explains a run of a lab's and shows it; and the lab's rules.
build/libcheck.a: $(call objects_of,$(rules) $(of_check) $(filter-out %/writers_program.c,\
    $(wildcard $(patsubst %,engine/%/*.c,show show/page host/check))))

# The program once more, from a kernel.cu that says which local variables come into scope; within
# the first one, which starts it when a mistake may come of one of them. Empty where there are none,
# or where what insert has made does not compile.
build/check/insert: build/c/engine/watch/locals/insert.o
	$(CC) $(C_FLAGS) $< -o $@
build/check/locals.o: build/check/kernel.ii build/check/insert engine/watch/locals/local.h \
        build/check/settings
	@{ build/check/insert engine/watch/locals/local.h <$< >$(@:.o=.ii) && \
	   $(CXX) $(CHECKED_FLAGS) -w -x c++-cpp-output -c $(@:.o=.ii) -o $@ 2>/dev/null; } || : >$@
build/check/locals: build/check/locals.o $(begin) $(end) $(checked_parts)
	@if test -s $<; then \
	    sh $(guard)/host_calls.sh $< $(guard)/host_call.S build/check/locals_guarded && \
	    $(CXX) $(EMULATED_FLAGS) $(begin) build/check/locals_guarded.o $(end) \
	        build/check/locals_guarded.S $(call grouped,$(checked_parts)) -o $@ -lm; \
	else : >$@; fi

# The walkthrough: its page, and what writes it.
walk_scripts = $(patsubst %,engine/show/page/view/%.js,run words formula state provenance sums sentence \
                 draw scene code split costs time finding predict table main)
build/check/walk.js: $(walk_scripts) | build/check/.
	cat $^ >$@
build/check/walk.css: engine/show/page/view/colors.css engine/show/page/view/page.css | build/check/.
	cat $^ >$@
build/check/walk.html: engine/show/page/page.sh engine/show/page/view/page.html build/check/walk.css \
        build/check/walk.js
	sh $^ >$@
build/check/walk_page.o: engine/show/page/page.S build/check/walk.html build/check/settings
	$(CC) -c $< -o $@

# The plain build of kernel.cu in silence: what is wrong with it the other compilation has said. Empty
# where it does not compile. It becomes two programs: one that says which blocks write, which lies in
# the checker (writers_program.c; without it all blocks are watched), and the plain program, whose
# verdict is asked for as well.
build/check/plain_kernel.ii: build/check/kernel.ii build/cpu/settings
	@$(preprocess) "$$KERNEL" $(basename $@) $(CXX) $(flags_cpu) 2>/dev/null && \
	    mv $(basename $@).new $@ || : >$@
build/check/plain_kernel.o: build/check/plain_kernel.ii
	$(CXX) $(EMULATED_FLAGS) -x c++-cpp-output -c $< -o $@ 2>/dev/null || : >$@
build/check/writers: build/check/plain_kernel.o build/c/engine/host/check/writers_program.o \
        $(addprefix build/cpu/,engine/host/host.o $(LAB)/call.o) \
        $(driver) build/libruntime.a
	$(CXX) $(EMULATED_FLAGS) $(linked) -Wl,--strip-debug -o $@ -lm 2>/dev/null || : >$@
build/check/writers_program.o build/check/locals_program.o: build/check/%_program.o: \
        engine/host/check/embedded.S build/check/% build/check/settings
	$(CC) -DPROGRAM=$*_program -DFILE='"build/check/$*"' -c $< -o $@
build/check/plain: build/check/plain_kernel.o $(addprefix build/cpu/,main.o $(LAB)/call.o engine/host/driver/launches.o) \
        build/check/source.o $(driver) build/libruntime.a
	$(CXX) $(EMULATED_FLAGS) $(linked) -o $@ -lm 2>/dev/null || : >$@

# On a machine with a GPU, too: nothing there sees as much.
build/check/$(checker): $(begin) build/check/guarded.o $(end) build/check/guards.o \
        build/check/writers_program.o build/check/locals_program.o $(checked_parts) | \
        build/check/kernel.spaces build/lab.sh
	@sh make/check_kernel.sh build/lab.sh build/check/kernel.o
	$(CXX) $(EMULATED_FLAGS) $(linked) -o $@ -lm
