"""A class: from what students handed in to the files that gradebooks import.

    settings.py   class.toml, and what the command line says instead
    roster.py     who is in the class
    hand_ins.py   what was handed in: folders, files, and the platforms' downloads as they are
    archive.py    the files of one hand-in, from a folder or a zip, as they came
    canvas.py moodle.py gradescope.py   what each platform exports and imports
    table.py fill.py   CSV files as spreadsheets write them; a platform's own table, filled
    jobs/results.py  the folder of results: what is done, what is old, what failed
    jobs/grader.py  the grader's command: what it is asked, and what its answers mean
    record.py     the grader's result.json and student.json, as they are read here
    jobs/worker.py jobs/slurm.py  run what is missing, on this machine or by a job array
    policy.py     which attempt counts, what being late costs, changes by hand
    gradebook.py  tables, one row a student
    regrade.py    what another version of the cases would change
    pages/        pages for students and for staff

Data flows down this list: hand-ins -> attempts -> records -> standings -> tables and pages. Of the
repository around it, this package knows the grader's command and those two files.
"""
