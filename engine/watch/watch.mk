# Under watch: a .cu file with the compiler's own instrumentation, whose calls the engine answers
# (access.c), so none of the compiler's libraries are linked. Included by the Makefile and by
# engine/Makefile.

# -O1: at -O0 local variables would be watched too. Not vectorized: 16 bytes at once are to be the
# kernel's own float4. Both are to say which accesses are volatile. clang needs options to report the
# read of C[i] += x, and to keep to array bounds. Neither announces what it knows to be a local array,
# however far an index leads, unless its address goes somewhere: to a check of the object's size, or
# to a second announcement. Indirect calls go through host_call.S. DWARF 4: in DWARF 5, addr2line
# (binutils 2.40) takes an included file for the one that includes it.
CHECKED_O = -O1
CHECKED_FLAGS = $(filter-out -O% -fpeel-loops,$(EMULATED_FLAGS)) $(CHECKED_O) \
                -fno-omit-frame-pointer -gdwarf-4 \
                -fno-tree-vectorize -fno-tree-slp-vectorize -fsanitize=thread,bounds \
                $(checked_flags_of_$(cxx_family)) \
                $(if $(findstring x86_64,$(cxx_machine)),$(x86_flags_of_$(cxx_family)))
x86_flags_of_gcc   = -mindirect-branch=thunk-extern -mindirect-branch-register
# clang announces no long double of 10 bytes.
x86_flags_of_clang = -mretpoline -mretpoline-external-thunk -mlong-double-64
# gcc expands a memcpy of known length without a word to the checker, and makes memcpy of others; as
# calls they are seen. Nor does it announce what a call returns straight into memory, which it does
# where it need not copy it.
checked_flags_of_gcc = -fsanitize=object-size -fno-elide-constructors -Wno-tsan \
                       --param tsan-distinguish-volatile=1 \
                       $(foreach f,memcpy memmove memset,-D__builtin_$f=$f) \
                       $(foreach f,$(that_store),-fno-builtin-$f -fno-builtin-__$(f)_chk)
that_store = memcpy memmove memset mempcpy bcopy bzero strcpy strncpy strcat strncat stpcpy stpncpy \
             sprintf snprintf vsprintf vsnprintf
checked_flags_of_clang = -fno-sanitize=local-bounds \
                         -fsanitize-coverage=func,trace-pc,trace-loads,trace-stores \
                         -mllvm -tsan-instrument-read-before-write=1 \
                         -mllvm -tsan-distinguish-volatile=1 \
                         -mllvm -tsan-instrument-func-entry-exit=0
cxx_machine = $(eval cxx_machine := $$(shell $$(CXX) -dumpmachine))$(cxx_machine)

build/check/settings: settings = $(CC), $(C_FLAGS), $(CXX), $(CHECKED_FLAGS)
build/check/settings: | build/cpu/settings

build/check/kernel.o: build/check/kernel.ii build/check/settings
	@$(say) "CXX $$KERNEL (checked)"
	$(CXX) $(CHECKED_FLAGS) -x c++-cpp-output -c $< -o $@

guard = engine/watch/guard
# Its calls of host functions pass through guards, which are written beside it.
build/check/guarded.o: build/check/kernel.o $(guard)/host_calls.sh $(guard)/host_call.S
	@sh $(guard)/host_calls.sh $< $(guard)/host_call.S $(basename $@)
build/check/guards.o: build/check/guarded.o
	$(CC) -c $(<:.o=.S) -o $@

# A store to where a function returns to is found by frame pointers.
watching = watch watch/shadow watch/record watch/detectors watch/guard watch/locals
build/c/engine/watch/%.o: private C_FLAGS += -fno-omit-frame-pointer
build/c/engine/watch/locals/insert.o build/c/engine/watch/detectors/%.o: private C_FLAGS += -O0
build/c/engine/watch/detectors/unannounced.o: private C_FLAGS += -O1# each access tells it, in an audit

# Behind engine.h: what watches and explains, but for what explains a run of a lab's (host/check/check.mk).
of_check = $(wildcard engine/explain/index/*.c engine/explain/remarks/*.c)
build/libengine.a: $(call objects_of,$(filter-out $(of_check) %/insert.c,\
    $(wildcard $(patsubst %,engine/%/*.c,explain $(watching)))))
