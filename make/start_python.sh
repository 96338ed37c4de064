# Runs a Python program for which Ctrl-C is held back until grader/interrupt.py is ready for it: the
# interpreter, while it starts, answers with a traceback of its own.
#     sh make/start_python.sh PYTHON ARGUMENT...
if env --block-signal=INT true 2>/dev/null; then # coreutils 8.31 and newer
    exec env --block-signal=INT "$@"
fi
exec "$@"
