"""Results in the forms that others read, made from result.json and nothing else.

    python -m grader.exporters FORMAT results/NAME/result.json

FORMAT is the name of a module beside this one; each has one function, export(record) -> str.
docs/ci.md says which system reads which.
"""
