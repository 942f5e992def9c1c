#!/usr/bin/env python3
"""Builds the site (./dev docs) and looks at it as a reader: links lead somewhere, pictures are there, every function has its page, and,
where a Chromium is installed, the search finds by a typed name and a narrow screen shows no page wider than itself.

usage: site.py ROOT
"""
import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(sys.argv[1]).resolve()
SITE = ROOT / "build/site/html"


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name in ("id", "name") and value:
                self.names.add(value)


def broken_links():
    pages = {path: Page(path) for path in SITE.rglob("*.html")}
    assert len(pages) > 40, f"only {len(pages)} pages"
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if parts.scheme in ("http", "https") and "sphinx" not in link and "furo" not in link and "pradyunsg" not in link:
                    yield f"{path.name}: {link} needs a network"
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                yield f"{path.relative_to(SITE)}: {link} leads nowhere"
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].names:
                yield f"{path.relative_to(SITE)}: {link}: there is no such place"


def browser(*options):
    tool = next((name for name in ("chromium", "chromium-browser", "google-chrome") if shutil.which(name)), None)
    if not tool:
        return None
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([tool, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}",
                               "--virtual-time-budget=20000", *options], capture_output=True, text=True, check=False, timeout=180)
    return done.stdout


def search_finds(word, wanted):
    found = browser("--dump-dom", f"{(SITE / 'search.html').as_uri()}?q={word}")
    if found is None:
        print("no Chromium: the search was not tried")
    elif (wanted not in re.findall(r'<li[^>]*><a href="([^"#]+)', found.partition('id="search-results"')[2])[:3] or
          not re.search(re.escape(wanted) + r'(?:#[^"]*)?"[^\n]*?</a>(?:<span[^<]*</span>)?<p class="context">[^<]', found)):
        yield f"the search for {word} does not find {wanted} first, with a line of text: {re.sub('<[^>]+>', ' ', found)[-400:]}"


def narrow_fits(name):
    """A frame as narrow as a telephone; a script inside says how wide the page wants to be."""
    with tempfile.NamedTemporaryFile("w", suffix=".html", dir=SITE, encoding="utf-8") as frame:
        frame.write(f"""<iframe id=f src={name} style="width:400px;height:800px"></iframe><p id=said></p><script>
f.onload=()=>{{const d=f.contentDocument.documentElement;said.textContent='width '+d.scrollWidth+' pictures '+
[...f.contentDocument.images].filter(i=>!i.naturalWidth).length}}</script>""")
        frame.flush()
        said = browser("--dump-dom", "--allow-file-access-from-files", pathlib.Path(frame.name).as_uri())
    if said is not None:
        found = re.search(r"width (\d+) pictures (\d+)", said)
        if not found or int(found.group(1)) > 420 or found.group(2) != "0":
            yield f"{name} on a narrow screen: {found.group(0) if found else said[-300:]} (wanted: 400, and no missing picture)"


def main():
    done = subprocess.run([ROOT / "dev", "docs"], check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(done.returncode)
    found = list(broken_links())
    menu = {link.partition("#")[0] for link in Page(SITE / "index.html").links} | {"index.html", "genindex.html"}
    found += [f"{name} is in no menu" for name in (str(path.relative_to(SITE)) for path in SITE.rglob("*.html")) if name not in menu]
    names = (SITE / "man/names.html").read_text(encoding="utf-8")
    found += [f"names.html lacks {name}" for name in ("shmem_int_put", "SHMEM_CMP_EQ", "shmemx_double_put_nbe") if name not in names]
    found += search_finds("shmem_int_put", "man/shmem_put.3.html")
    found += search_finds("broadcast", "man/shmem_broadcast.3.html")
    for name in ("index.html", "man/shmem_put.3.html", "docs/results/README.html", "docs/guide/tutorial.html"):
        found += narrow_fits(name)
    print("\n".join(found[:40]) or "the site holds")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
