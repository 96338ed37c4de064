# Many submissions. Included by the Makefile, behind grader/grader.mk.

.PHONY: grade-class regrade grade-class-summary

CLASS ?= class
export CLASS QUEUE SLURM

# A class: what is missing, and what is of an earlier version; course/README.md. Of make's defaults for
# one submission none is passed on: class.toml has its own.
## make grade-class         a class: CLASS=path of a folder with submissions
##      QUEUE=slurm         ... as a job array; SLURM='options of sbatch'
## make regrade             what today's cases would change; ACCEPT=1 takes it
if_set = $(if $(filter $1,$(given) $(inherited)),--$2 "$$$1")
switch = $(if $($1),$(if $(filter-out 1,$($1)),$(error $1=$($1): it is 1, or not given))--$2)
course = @sh make/start_python.sh $(VENV)/bin/python -B -m course $1 --class "$$CLASS" \
    $(call if_set,SUITE,suite) $(call if_set,RESULTS,results) $(call if_given,SEED,seed) \
    $(call if_given,JOBS,jobs) $(call if_given,LIMIT,limit) \
    $(call if_given,PROTECTION,protection) $(call if_given,QUEUE,queue) \
    $(if $(filter SLURM,$(given)),--slurm="$$SLURM") \
    $(call switch,ACCEPT,accept) $(grade_backend) $(GRADE_ARGS)
grade-class: $(VENV)/course-ready $(beside_pip)
	$(call course,grade)
takes_grade-class = CLASS QUEUE SLURM $(takes_grader)

regrade: $(VENV)/course-ready $(beside_pip)
	$(call course,regrade)
takes_regrade = ACCEPT $(takes_grade-class)

## make grade-class-summary
##                          for workflows: see docs/ci.md
grade-class-summary:
	@cat "$$RESULTS/class.md" >>"$${GITHUB_STEP_SUMMARY:-/dev/stdout}"
takes_grade-class-summary = RESULTS

$(VENV)/course-ready: grader/requirements.txt course/requirements.txt
	@sh make/venv.sh '$(PYTHON)' '$(VENV)' $^
	@touch $@ $(VENV)/grader-ready
