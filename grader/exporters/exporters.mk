# Results for workflows. Included by the Makefile.

.PHONY: grade-summary grade-annotations sandbox

# One result in another form. --github: into the file that GitHub reads, elsewhere to standard output.
## make grade-summary, grade-annotations, sandbox
##                          for workflows: see docs/ci.md
result = "$$RESULTS/$${NAME:-kernel}/result.json"
grade-summary grade-annotations: grade-%: $(VENV)/grader-ready
	@$(VENV)/bin/python -B -m grader.exporters $* --github $(result)
takes_grade-summary     = RESULTS NAME $(takes_python)
takes_grade-annotations = RESULTS NAME $(takes_python)

# On a CI runner: installs bubblewrap and lets it make namespaces (Debian, Ubuntu).
sandbox:
	@sh .github/sandbox.sh
takes_sandbox =

# A target while whose output GitHub's workflow commands are switched off.
guarded-%:
	@$(PYTHON) -B -m grader.exporters.guarded $(MAKE) --no-print-directory $*
