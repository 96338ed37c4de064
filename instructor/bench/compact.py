"""JSON as the benches write it: a line for each element of a list, so for each shape."""

import json
from typing import Any


def text_of(content: dict[str, Any]) -> str:
    def value_of(value: Any) -> str:
        if not isinstance(value, list) or not value:
            return json.dumps(value)
        return "[\n " + ",\n ".join(json.dumps(element) for element in value) + "]"

    return "{" + ",\n".join(f"{json.dumps(key)}: {value_of(value)}"
                            for key, value in content.items()) + "}\n"
