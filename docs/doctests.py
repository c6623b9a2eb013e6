"""Docstrings of this project say ``Example:``, what reads them knows ``Examples:``."""

import re
from typing import Any

from griffe import Extension, Object


class Doctests(Extension):
    """Doctests of the reference are shown as code."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        """Rename the section of one docstring."""
        if obj.docstring:
            obj.docstring.value = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)
