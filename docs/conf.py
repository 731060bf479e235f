"""Settings of the documentation: ``python -m sphinx -W --keep-going docs build/site``."""

import importlib
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import ascend_array_api

project = "ascend_array_api"
author = "the ascend_array_api authors"
copyright = f"2026, {author}"
version = release = ascend_array_api.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
exclude_patterns = ["pictures"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

# Names in single backticks link to what they name, where that is documented.
default_role = "py:obj"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False
autosummary_generate = False
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
add_module_names = False

html_theme = "furo"
html_title = project
html_static_path = ["_static"]
html_css_files = ["site.css"]
pygments_dark_style = "github-dark"


class Functions(SphinxDirective):
    """List and document the functions that a module of the package has in ``__all__``."""

    required_arguments = 1  # the module that has the list
    optional_arguments = 1  # the public module where the functions are documented

    def run(self) -> list[nodes.Node]:
        """Return the table of the functions, and their documentation."""
        source, public = self.arguments[0], self.arguments[-1]
        public = public if len(self.arguments) > 1 else project
        space = importlib.import_module(public)
        names = importlib.import_module(source).__all__
        lines = [f".. currentmodule:: {public}", "", ".. autosummary::", "   :nosignatures:", ""]
        lines += [f"   {name}" for name in names]
        for name in names:
            # What an extension has from the main namespace is described there.
            if space is ascend_array_api or getattr(space, name) is not getattr(
                ascend_array_api, name, None
            ):
                lines += ["", f".. autofunction:: {public}.{name}"]
        return self.parse_text_to_nodes("\n".join(lines))


def skip_fields(app: Sphinx, what: str, name: str, member: Any, *_: Any) -> bool | None:
    """Leave out the fields of named tuples, which the text of their class describes."""
    return True if type(member).__name__ == "_tuplegetter" else None


def setup(app: Sphinx) -> None:
    """Register the directive and the filter."""
    app.add_directive("functions", Functions)
    app.connect("autodoc-skip-member", skip_fields)
