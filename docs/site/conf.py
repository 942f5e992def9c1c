"""How Sphinx makes the pages that `./dev docs` writes. docs/site/prepare.py puts the sources beside a copy of this file.

Sphinx, because its search is a script beside the pages: it works from a folder, without a server and without a network.
"""
import json
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

# A browser lets no page of a folder read another one, as Sphinx's search does for the line below a result; so the search has a line of each.
LINES = """addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
    for (const item of document.querySelectorAll("#search-results li:not(:has(.context))")) {
        const text = lines[new URL(item.querySelector("a").href).pathname.slice(new URL(".", location).pathname.length).replace(/\\.html$/, "")];
        if (location.protocol === "file:" && text) {
            const line = document.createElement("p");
            line.className = "context";
            line.textContent = text;
            item.append(line);
        }
    }
}).observe(document.getElementById("search-results"), {childList: true, subtree: true}));
"""


def add_lines(app, page, template, context, doctree):
    if page == "search":
        app.add_js_file("lines.js")


def write_lines(app, problem):
    if not problem:
        first = {name: next((part.astext() for part in app.env.get_doctree(name).findall(lambda node: node.tagname == "paragraph")), "")
                 for name in sorted(app.env.found_docs)}
        lines = {name: " ".join(text.split())[:200] for name, text in first.items()}
        pathlib.Path(app.outdir, "_static", "lines.js").write_text(f"const lines = {json.dumps(lines)};\n{LINES}", encoding="utf-8")


def setup(app):
    app.connect("html-page-context", add_lines)
    app.connect("build-finished", write_lines)
