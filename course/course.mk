# Many submissions, and results for workflows. Included by the Makefile, behind grader/grader.mk.

.PHONY: grade-class regrade grade-class-summary grade-summary grade-annotations sandbox

##
## For teaching assistants (docs/grading.md, course/README.md, docs/ci.md):
## make grade SUBMISSION=path SUITE=all     one submission; hidden cases, too
## make grade-class     a folder of submissions: CLASS=path; QUEUE=slurm: as a job
##                      array, SLURM='options of sbatch'
##      CLASS LAB SUITE RESULTS SEED JOBS LIMIT PROTECTION QUEUE SLURM
## make regrade         show what today's cases would change; ACCEPT=1: apply it
##                                                                      ACCEPT
##      CLASS LAB SUITE RESULTS SEED JOBS LIMIT PROTECTION QUEUE SLURM
## make grade-class-summary     for workflows: docs/ci.md       RESULTS
## make grade-summary, grade-annotations   for workflows: docs/ci.md  RESULTS NAME
## make sandbox         ... install bubblewrap, and allow it namespaces

# Of make's defaults for one submission none is passed on: class.toml has its own.
class_lab = $(if $(filter LAB,$(GIVEN)),--lab="$$LAB")
grade-class regrade: course-packages parts-beside-pip
	case $${ACCEPT-1} in 1) ;; *) echo "ACCEPT=$$ACCEPT: must be 1, or not given" >&2; exit 2 ;; esac; \
	exec $(python) -m course $(patsubst %-class,%,$@) --class "$${CLASS-class}" $(call option,SUITE,suite) $(class_lab) \
	    $(call option,RESULTS,results) $(call option,SEED,seed) $(call option,JOBS,jobs) $(call option,LIMIT,limit) \
	    $(call option,PROTECTION,protection) $(call option,QUEUE,queue) $${SLURM+--slurm="$$SLURM"} \
	    $${ACCEPT:+--accept} $(grade_backend)
course-packages:
	$(python) -i grader course
grade-class-summary:
	cat "$${RESULTS-results}/class.md" >>"$${GITHUB_STEP_SUMMARY:-/dev/stdout}"

# One result in another form. --github: into the file that GitHub reads, elsewhere to standard output.
grade-summary grade-annotations: grade-%: packages
	$(python) -m grader.exporters $* --github "$${RESULTS-results}/$${NAME:-kernel}/result.json"

# On a CI runner: installs bubblewrap and lets it make namespaces (Debian, Ubuntu).
sandbox:
	sh .github/sandbox.sh

# A target while whose output GitHub's workflow commands are switched off.
guarded-%:
	$(python) -s -m grader.exporters.guarded $(MAKE) --no-print-directory $*
