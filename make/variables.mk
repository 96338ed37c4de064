# What is given on the command line and not used is refused: with a SEED= that nothing reads, a
# grade would be of another seed than the one that was asked for. Beside each target is a variable
# takes_TARGET: those that it uses.

takes_always = SHELL V

# Only for targets of that kind, not for files made by their own names; nor in a make within a make,
# which is handed variables that its targets may not use.
goals  := $(patsubst guarded-%,%,$(or $(MAKECMDGOALS),$(.DEFAULT_GOAL)))
taken  := $(foreach goal,$(goals),$(takes_$(goal)))
unused := $(filter-out $(takes_always) $(taken),$(given))
ifeq ($(MAKELEVEL) $(filter undefined,$(foreach goal,$(goals),$(origin takes_$(goal)))),0 )
ifneq ($(unused),)
own := $(sort $(filter-out $(takes_tools) $(takes_python) %_FLAGS,$(taken)))
$(error make $(goals) takes no $(sort $(unused))$(if $(own),; it takes$(newline)    $(own)))
endif
endif
