# Which given variable does no target of this make take? Says so in one line, with the nearest that is taken, or
# the targets that take it; silent if there is none.
#
#     awk -f given.awk GOALS NAMES MAKEFILE...
#
# What a target takes is what the help says: "## make walk   play back ...   KERNEL SHAPE BLOCK".

BEGIN {
    goals = ARGV[1]; names = ARGV[2]; ARGV[1] = ARGV[2] = ""
    # How things are built is one's own affair with any target.
    takes["help"] = " LAB"
    everywhere = "V SHELL BACKEND ARCH CC CXX AR NVCC PYTHON VENV"
    everywhere = everywhere " C_FLAGS EMULATED_FLAGS CHECKED_FLAGS CHECKED_O CUDA_FLAGS"
}

/^## make / {
    targets = " "
    for (i = 3; i <= NF && /^## make [a-z]/ && (i == 3 || $(i - 1) ~ /,$/); i++) targets = targets $i " "
    gsub(/,/, "", targets)
    if (targets == " ") targets = " all "
    known = known targets
}

/^## make / || /^##  +[A-Z][A-Z_ ]+$/ { # which may go on in the next line
    count = split(targets, target, " ")
    for (each = 1; each <= count; each++)
        if (!(target[each] in takes)) {
            takes[target[each]] = ""
            order[++ordered] = target[each]
        }
    for (i = NF; i > 1 && $i ~ /^[A-Z][A-Z_]+$/; i--)
        for (each = 1; each <= count; each++) takes[target[each]] = takes[target[each]] " " $i
}

function has(list, word) { return index(" " list " ", " " word " ") }

# Levenshtein's: how many letters have to be put in, taken out or exchanged.
function distance(a, b,    i, j, cost, old, row) {
    for (j = 0; j <= length(b); j++) row[j] = j
    for (i = 1; i <= length(a); i++) {
        old = row[0]; row[0] = i
        for (j = 1; j <= length(b); j++) {
            cost = old + (substr(a, i, 1) != substr(b, j, 1)); old = row[j]
            if (row[j] + 1 < cost) cost = row[j] + 1
            if (row[j - 1] + 1 < cost) cost = row[j - 1] + 1
            row[j] = cost
        }
    }
    return row[length(b)]
}

# "check does", "check, walk and program do"
function listed(targets) {
    return sub(/, [^,]*$/, " and&", targets) && sub(/ and, /, " and ", targets) ? targets " do" : targets " does"
}

function nearest(name, list,    each, count, i, best, least) {
    least = int(length(name) / 2)
    count = split(list, each, " ")
    for (i = 1; i <= count; i++)
        if (distance(toupper(name), each[i]) < least) {
            best = each[i]
            least = distance(toupper(name), best)
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
    if (has(names, "SUBMISSION")) sub(/ KERNEL/, "", taken) # two words for one thing
    count = split(names, name, " ")
    for (i = 1; i <= count; i++) {
        if (has(everywhere taken, name[i])) continue
        others = ""
        for (each = 1; each <= ordered; each++)
            if (has(takes[order[each]], name[i])) others = others (others ? ", " : "") order[each]
        best = nearest(name[i], everywhere taken)
        line = "make" (goals == "all" ? "" : " " goals) " takes no " name[i]
        if (others) line = line "; make " listed(others)
        else if (best) line = line "; did you mean " best "=?"
        else line = line (taken ? "; it takes" taken : "")
        print line
        exit
    }
}
