"""How Sphinx makes the pages that `./dev docs` writes. docs/site/prepare.py puts the sources beside a copy of this file.

Sphinx, because its search is a script beside the pages: it works from a folder, without a server and without a network.
"""
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
project = "Lateral"
author = "the Lateral developers"
copyright = "the Lateral developers"                      # a name that Sphinx wants
version = release = re.search(r"project\(Lateral VERSION ([0-9.]+)", (HERE / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["_build"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
suppress_warnings = ["misc.highlighting_failure", "toc.not_included", "myst.header"]
highlight_language = "none"
html_theme = "furo"
html_title = f"Lateral {version}"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"source_edit_link": "", "footer_icons": []}
