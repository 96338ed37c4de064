# What is given on the command line or in the environment is a value, in which make expands nothing:
# KERNEL='$(shell ...)' is an odd path and no more, also where it is exported to recipes. Included
# before anything else looks at a variable.

# In the environment these are about something else (WSL sets NAME), so there they are not read.
ours_alone = LAB NAME SEED JOBS LIMIT PROTECTION QUEUE SLURM ACCEPT GRADE_ARGS DIR FAULTY \
    SHAPE BLOCK CHECK ARGS INCLUDE FIRST JSON TIMEOUT
$(foreach name,$(ours_alone),\
    $(if $(filter environment%,$(origin $(name))),$(eval override $(name) :=)))

# Those that make itself sets up keep their ways.
given := $(filter-out MAKE% -*-%,$(foreach name,$(.VARIABLES),\
    $(if $(findstring command line,$(origin $(name))),$(name))))
inherited := $(foreach name,KERNEL BACKEND ARCH PYTHON VENV NVCC CC CXX AR V C_FLAGS CUDA_FLAGS \
    EMULATED_FLAGS CHECKED_FLAGS CHECKED_O SUBMISSION CLASS SUITE RESULTS CASES_ARGS \
    RELEASE_ARGS KERNELS SHAPES SAMPLES LADDER GRID GRID_SEED GRID_KERNEL GRID_JSON,\
    $(if $(filter environment%,$(origin $(name))),$(name)))
# Recipes' programs find them in the environment (CXX), as they would without this.
$(foreach name,$(filter-out SHELL,$(given)),$(eval override $(name) := $$(value $(name)))\
    $(eval export $(name)))
# Twice: with make -e, a variable has the origin "environment override" only once that has been tried.
as_it_is = $(eval $(filter override,$(origin $1)) $1 := $$(value $1))
$(foreach name,$(inherited) $(inherited),$(call as_it_is,$(name)))

# These are parts of rules, which make reads twice and splits at blanks.
odd := $$ ' " ` ; & | < > ( ) \ * ? [ ] % : ~ \#
$(foreach name,VENV ARCH LAB,\
    $(if $(or $(word 2,x$($(name))x),$(strip $(foreach one,$(odd),$(findstring $(one),$($(name)))))),\
        $(error $(name)=$($(name)): must have no blanks, quotes, or signs with a meaning in a shell)))
