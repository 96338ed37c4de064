# Results for workflows. Included by the Makefile, behind grader/grader.mk.

.PHONY: grade-summary grade-annotations sandbox

## make grade-summary, grade-annotations   for workflows: docs/ci.md  RESULTS NAME
## make sandbox         ... bubblewrap, and the right to make namespaces

# One result in another form. --github: into the file that GitHub reads, elsewhere to standard output.
grade-summary grade-annotations: grade-%: packages
	$(python) -m grader.exporters $* --github "$${RESULTS-results}/$${NAME:-kernel}/result.json"

# On a CI runner: installs bubblewrap and lets it make namespaces (Debian, Ubuntu).
sandbox:
	sh .github/sandbox.sh

# A target while whose output GitHub's workflow commands are switched off.
guarded-%:
	$(python) -s -m grader.exporters.guarded $(MAKE) --no-print-directory $*
