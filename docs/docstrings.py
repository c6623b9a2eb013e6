"""Docstrings of this project as the reference shows them."""

import re
from typing import Any

from griffe import Extension, Object

ROLE = re.compile(r":(?:class|func|meth|mod):(?=`)")


class Docstrings(Extension):
    """``Example:`` is what griffe calls ``Examples:``, and a role such as ``:class:`` is left out."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        """Rewrite one docstring."""
        if obj.docstring:
            text = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)
            obj.docstring.value = ROLE.sub("", text)
