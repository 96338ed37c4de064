# Which given variable does no target of this make take? Says so in one line, with the nearest that is taken, or the
# targets that take it; silent if there is none. What a target takes is what the help says:
# "## make walk   play back ...   KERNEL SHAPE BLOCK", and words in capitals alone on a line below.
#
#     awk -f given.awk GOALS NAMES MAKEFILE...

BEGIN {
    goals = ARGV[1]
    names = ARGV[2]
    ARGV[1] = ARGV[2] = ""
    takes["help"] = " LAB"
    # How things are built is one's own affair with any target.
    everywhere = "V SHELL BACKEND ARCH CC CXX AR NVCC PYTHON VENV"
    everywhere = everywhere " C_FLAGS EMULATED_FLAGS CHECKED_FLAGS CHECKED_O CUDA_FLAGS"
}

/^## make / {
    targets = ""
    for (i = 3; i <= NF && /^## make [a-z]/ && (i == 3 || $(i - 1) ~ /,$/); i++) targets = targets " " $i
    gsub(/,/, "", targets)
    if (!targets) targets = " all"
    known = known targets
}

/^## make / || /^##  +[A-Z][A-Z_ ]+$/ {
    words = ""
    for (i = NF; i > 1 && $i ~ /^[A-Z][A-Z_]+$/; i--) words = words " " $i
    count = split(targets, target, " ")
    for (i = 1; i <= count; i++) {
        if (!(target[i] in takes)) order[++ordered] = target[i]
        takes[target[i]] = takes[target[i]] words
    }
}

function has(list, word) { return index(" " list " ", " " word " ") }

# Levenshtein's: how many letters have to be put in, taken out or exchanged.
function distance(a, b,    i, j, cost, old, row) {
    for (j = 0; j <= length(b); j++) row[j] = j
    for (i = 1; i <= length(a); i++) {
        old = row[0]
        row[0] = i
        for (j = 1; j <= length(b); j++) {
            cost = old + (substr(a, i, 1) != substr(b, j, 1))
            old = row[j]
            if (row[j] + 1 < cost) cost = row[j] + 1
            if (row[j - 1] + 1 < cost) cost = row[j - 1] + 1
            row[j] = cost
        }
    }
    return row[length(b)]
}

function nearest(name, list,    each, count, i, far, best, least) {
    least = int(length(name) / 2)
    count = split(list, each, " ")
    for (i = 1; i <= count; i++) {
        far = distance(toupper(name), each[i])
        if (far < least) best = each[i]
        if (far < least) least = far
    }
    return best
}

END {
    count = split(goals, goal, " ")
    for (i = 1; i <= count; i++) {
        sub(/^guarded-/, "", goal[i])
        if (!has(known " help", goal[i])) exit # a file, or no target at all: make says so
        taken = taken takes[goal[i]]
    }
    if (has(names, "KERNEL") && has(names, "SUBMISSION") && has(taken, "SUBMISSION")) {
        print "make " goals " takes KERNEL or SUBMISSION, not both"
        exit
    }
    count = split(names, name, " ")
    for (i = 1; i <= count; i++) {
        if (has(everywhere taken, name[i])) continue
        others = ""
        for (each = 1; each <= ordered; each++)
            if (has(takes[order[each]], name[i])) others = others (others ? ", " : "") order[each]
        several = sub(/, [^,]*$/, " and&", others) && sub(/ and, /, " and ", others)
        best = nearest(name[i], everywhere taken)
        if (others) more = "; make " others (several ? " do" : " does")
        else if (best) more = "; did you mean " best "=?"
        else if (taken) more = "; it takes" taken
        print "make" (goals == "all" ? "" : " " goals) " takes no " name[i] more
        exit
    }
}
