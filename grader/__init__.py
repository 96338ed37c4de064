"""The grader: `make grade`, `python -m grader`, or pytest on this folder. See docs/grading.md."""
