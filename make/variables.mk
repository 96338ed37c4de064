# Which variables each target takes. What is given on the command line and not taken is refused: with
# a SEED= that nobody reads, a grade would be of another seed than the one that was asked for.

takes_python = PYTHON VENV
takes_tools  = ARCH CC CXX NVCC AR
takes_build  = KERNEL BACKEND $(takes_tools) C_FLAGS BRIEF_FLAGS CUDA_FLAGS EMULATED_FLAGS \
               CHECKED_FLAGS CHECKED_O
takes_grader = SUITE RESULTS SEED JOBS PROTECTION BACKEND GRADE_ARGS $(takes_python) $(takes_tools)
takes_always = SHELL V

$(foreach goal,all sgemm sgemm-check check program grader-parts,\
    $(eval takes_$(goal) = $$(takes_build)))
# KERNEL is another word for SUBMISSION; of both one would be ignored.
takes_grade               = $(if $(filter command%,$(origin SUBMISSION)),,KERNEL) SUBMISSION NAME \
                            $(takes_grader)
takes_grade-class         = SUBMISSIONS $(takes_grader)
takes_grade-summary       = RESULTS NAME $(takes_python)
takes_grade-annotations   = RESULTS NAME $(takes_python)
takes_grade-class-summary = RESULTS $(takes_python)
takes_distclean           = VENV
takes_clean               =
takes_help                =
takes_sandbox             =

takes_cases       = FAULTY CASES_ARGS JOBS $(takes_python) $(takes_tools)
takes_cases-check = $(takes_python)
takes_release     = DIR RELEASE_ARGS $(takes_python) $(takes_tools)
takes_gradescope  = PYTHON
takes_autolab     = PYTHON
takes_classroom50 = PYTHON

takes_test            = $(takes_python) $(takes_tools)
takes_test-all        = $(takes_python) $(takes_tools)
takes_test-gpu        = $(takes_python) $(takes_tools)
takes_bench           = KERNELS SHAPES SAMPLES LAUNCH PATIENCE LADDER $(takes_python) $(takes_build)
takes_bench-clock     = $(takes_python) $(takes_tools)
takes_bench-charts    = LADDER $(takes_python)
takes_bench-counts    = KERNELS KERNEL SHAPES $(takes_python) $(takes_tools)
takes_bench-emulator  = SHAPES $(takes_build)
takes_bench-reference = SHAPES $(takes_build)
takes_bench-check     = SHAPES $(takes_build)
takes_bench-grader    = $(takes_python) $(takes_tools)

# In the environment these are about something else (WSL sets NAME), so there they are not read.
$(foreach name,NAME SEED JOBS PROTECTION GRADE_ARGS DIR FAULTY,\
    $(if $(filter environment%,$(origin $(name))),$(eval override $(name) :=)))

# A make within a make is handed what its targets may have no use for; and whoever makes a file by
# its own name knows what he does.
define newline


endef
goals  := $(patsubst guarded-%,%,$(or $(MAKECMDGOALS),$(.DEFAULT_GOAL)))
given  := $(foreach name,$(.VARIABLES),$(if $(findstring command line,$(origin $(name))),$(name)))
taken  := $(foreach goal,$(goals),$(takes_$(goal)))
unused := $(filter-out MAKE% -*-% $(takes_always) $(taken),$(given))
ifeq ($(MAKELEVEL) $(filter undefined,$(foreach goal,$(goals),$(origin takes_$(goal)))),0 )
ifneq ($(unused),)
own := $(sort $(filter-out $(takes_tools) $(takes_python) %_FLAGS,$(taken)))
$(error make $(goals) takes no $(sort $(unused))$(if $(own),; it takes$(newline)    $(own)))
endif
endif
