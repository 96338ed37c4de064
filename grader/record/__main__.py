"""python -m grader.record: prints the JSON Schema of result.json."""

import json

from .model import schema

if __name__ == "__main__":
    print(json.dumps(schema(), indent=2))
