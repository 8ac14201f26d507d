#!/usr/bin/env bash
# Renders a page in a headless Chromium, without a network, and looks for what no test of its text finds.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: check-page.sh PAGE.html…    nothing loaded, nothing on the console, nothing too wide for 400 and 1280 pixels

CHROMIUM names the browser; otherwise chromium, chromium-browser and google-chrome are looked for.
Exit status: 0 if every page is right, 1 if one is not, 2 for wrong usage, 77 if there is no browser.
TEXT
}

[[ $# -ge 1 && $1 != -* ]] || { usage >&2; exit 2; }
for page in "$@"; do
  [[ -r $page ]] || { echo "check-page.sh: $page cannot be read" >&2; exit 2; }
done

browser=${CHROMIUM:-}
for name in chromium chromium-browser google-chrome; do
  [[ -n $browser ]] || browser=$(command -v "$name" || true)
done
[[ -n $browser ]] || { echo "check-page.sh: skipped: there is no Chromium here" >&2; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A window of a browser has a least width, so the page is looked at in a frame of the width that is asked for.
frame() {
  cat <<HTML
<!DOCTYPE html><meta charset="utf-8"><title>waiting</title>
<iframe id="page" src="page.html" style="width:$1px;height:800px;border:0"></iframe>
<p id="found">nothing</p>
<script>
  document.getElementById("page").onload = (event) => {
    const root = event.target.contentDocument.documentElement;
    root.querySelectorAll("details").forEach((details) => { details.open = true; });
    const cut = [...root.querySelectorAll("svg text")].filter((text) => {
      const box = text.getBoundingClientRect();
      return box.width > 0 && (box.left < -1 || box.right > $1 + 1);
    });
    // A file that is loaded is no entry of the browser's list.
    const named = [...root.querySelectorAll("[src], link[href]")].map((element) => element.src || element.href);
    const fetched = event.target.contentWindow.performance.getEntriesByType("resource").map((entry) => entry.name);
    const loads = [...new Set([...named, ...fetched])].filter((address) => !address.startsWith("data:"));
    document.getElementById("found").textContent =
      "found " + root.scrollWidth + " of $1, loads " + loads.join("|") +
      ", cut " + cut.map((text) => text.textContent).join("|") + ";";
  };
</script>
HTML
}

look() {
  "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run --disable-extensions \
    --host-resolver-rules='MAP * ~NOTFOUND' --allow-file-access-from-files --user-data-dir="$work/profile" \
    --virtual-time-budget=10000 --enable-logging=stderr --v=0 --window-size=1400,900 --dump-dom "file://$1" \
    >"$work/dom" 2>"$work/log" || { cat "$work/log" >&2; return 1; }
}

wrong=0
complain() { echo "check-page.sh: $*" >&2; wrong=1; }

for page in "$@"; do
  cp "$page" "$work/page.html"
  for width in 400 1280; do
    frame "$width" >"$work/frame.html"
    look "$work/frame.html" || { complain "$page: the browser failed"; continue; }
    grep -o 'CONSOLE.*' "$work/log" >&2 && complain "$page: messages on the console"
    found=$(grep -o 'found [0-9]* of [0-9]*, loads .*, cut .*;' "$work/dom") ||
      { complain "$page: it was not loaded in time"; continue; }
    [[ $found =~ ^found\ ([0-9]+)\ of\ [0-9]+,\ loads\ (.*),\ cut\ (.*)\;$ ]]
    ((BASH_REMATCH[1] <= width)) || complain "$page: ${BASH_REMATCH[1]} pixels wide in a window of $width"
    [[ -z ${BASH_REMATCH[2]} ]] || complain "$page: it loads ${BASH_REMATCH[2]}"
    [[ -z ${BASH_REMATCH[3]} ]] || complain "$page: texts cut at $width pixels: ${BASH_REMATCH[3]}"
  done
done
exit "$wrong"
