# The walkthrough's page but for its data: page.html, in which marks are replaced by the style, the
# script, and the content security policy that allows nothing but those. Nothing else can run or be
# loaded, whatever a student's text holds.
#
#     page.sh FOLDER     writes walk.html there, and first walk.css and walk.js, of the files in view/
set -e
view=engine/show/page/view
cat $view/colors.css $view/page.css >"$1/walk.css"
for name in run words formula provenance sums sentence draw scene code costs time predict table main; do
    cat "$view/$name.js"
done >"$1/walk.js"
set -- $view/page.html "$1/walk.css" "$1/walk.js" "$1/walk.html"

hash() { # as a browser computes it of an element's content, in base64 (RFC 4648)
    sum=$(sha256sum <"$1")
    echo "$sum" | awk '{
        digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        hex = substr($1, 1, 64) "00" # of 33 bytes, the last one of which is "="
        for (i = 1; i <= 66; i += 3) {
            bits = 0
            for (j = i; j < i + 3; j++)
                bits = 16 * bits + index("0123456789abcdef", substr(hex, j, 1)) - 1
            text = text substr(digits, int(bits / 64) + 1, 1) substr(digits, bits % 64 + 1, 1)
        }
        print "\047sha256-" substr(text, 1, 43) "=\047"
    }'
}

style=$(hash "$2")
script=$(hash "$3")
policy="default-src 'none'; script-src $script; style-src $style"
policy="$policy; base-uri 'none'; form-action 'none'"
LC_ALL=C awk -v policy="$policy" -v style="$2" -v script="$3" '
    function content(file,    line, text) {
        while ((getline line <file) > 0) text = text line "\n"
        return text
    }
    function replace(mark, text,    at) {
        at = index($0, mark)
        if (at) $0 = substr($0, 1, at - 1) text substr($0, at + length(mark))
    }
    /@CSP@/ { replace("@CSP@", policy) }
    /@STYLE@/ { replace("@STYLE@", content(style)) }
    /@SCRIPT@/ { replace("@SCRIPT@", content(script)) }
    { print }' "$1" >"$4"
