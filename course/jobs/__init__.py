"""Grades what has no result: on this machine or on a cluster, by the grader's command."""
