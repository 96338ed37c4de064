"""What a submission, or who hands it in, may say to be taken for something else: commands to a terminal or a
runner, markup, formulas."""

NASTY = [
    "::error file=x::y", "##[error]z", "\n::set-output name=a::b\n", "::stop-commands::x",
    "word: 1", 'score": 100, "', "{\"scores\": {\"Public\": 100}}", "a|b", "```", "`",
    "<script>alert(1)</script>", "</pre></details><h1>100</h1>", "]]>", "&amp;", "<!-- ",
    "[x](javascript:alert(1))", "![](http://a)", "@all #1 :tada: http://a.example www.a.example",
    "\x1b[2J\x07", "\u202e\u2066", "\r\n", "\x00", "%0A::error::", "%25", "a,b=c",
    "| --- |\n| x |", "# heading", "  indented", "$x^2$", "~~~", "***", "=SUM(A1)", "\ufffe\uffff",
    "\u2028", "\x85", "é" * 40, "\n\n\n", "\\", "&#60;b&#62;", "'", '"',
    "\xad\ue000\U0010ffff", "</style>", "{{ 7 * 7 }}{% include 'page.html.j2' %}",
]
