# The walkthrough's page but for its data: page.html with the style, the script, and the content security policy that
# allows nothing but those. Nothing else can run or be loaded, whatever a student's text holds.
#
#     page.sh FOLDER     writes walk.html there, and first walk.js, of the files in view/
set -e
view=engine/show/page/view style=$view/page.css script=$1/walk.js
cat $(for name in run words access draw scene code time main; do
    echo "$view/$name.js"
done) >"$script"

hash() { # file: as a browser computes it of an element's content
    octal=$(printf '\\0%03o' $(sha256sum <"$1" | sed 's/ .*//; s/../0x& /g'))
    echo "'sha256-$(printf %b "$octal" | base64)'"
}
policy="default-src 'none'; script-src $(hash "$script"); style-src $(hash "$style")"
policy="$policy; base-uri 'none'; form-action 'none'"
LC_ALL=C awk -v policy="$policy" -v style="$style" -v script="$script" '
    function show(tag, file,    line) {
        printf "<%s>", tag
        while ((getline line <file) > 0) print line
        print "</" tag ">"
    }
    /@STYLE@/ { show("style", style); next }
    /@SCRIPT@/ { show("script", script); next }
    { sub(/@CSP@/, policy); print }' $view/page.html >"$1/walk.html"
