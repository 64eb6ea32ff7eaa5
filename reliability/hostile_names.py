# SPDX-License-Identifier: BSD-3-Clause
"""Names that would do harm, or confuse, wherever they are taken for more than names."""

import random

OUTSIDE = "http://outside.invalid"

# {k} is a number by which a string that came alive can be recognized.
MARKUP = """
<script>window.hit={k}</script>
</script><script>window.hit={k}</script>
<img src=x onerror="window.hit={k}">
<img src=x onerror=window.hit={k}//
"><img src=x onerror=window.hit={k}>
'><svg onload=window.hit={k}>
<svg><script>window.hit={k}</script></svg>
<svg/onload=window.hit={k}>
<svg><animate onbegin=window.hit={k} attributeName=x dur=1s>
<math><mi//xlink:href="data:x,<script>window.hit={k}</script>">
<body onload=window.hit={k}>
<details open ontoggle=window.hit={k}>
<input autofocus onfocus=window.hit={k}>
<video><source onerror="window.hit={k}"></video>
<iframe srcdoc="<script>parent.hit={k}</script>"></iframe>
<iframe src="javascript:parent.hit={k}"></iframe>
<a href="javascript:window.hit={k}">x</a>
<form action="OUT/{k}"><button autofocus>x</form>
<object data="OUT/{k}"></object>
<embed src="OUT/{k}">
<link rel=stylesheet href="OUT/{k}.css">
<base href="OUT/{k}/">
<meta http-equiv=refresh content="0;url=OUT/{k}">
<img src="OUT/{k}.png">
<img srcset="OUT/{k}.png 1x">
<style>@import url(OUT/{k}.css);</style>
<div style="background:url(OUT/{k}.png)">
</title><script>window.hit={k}</script>
</style><script>window.hit={k}</script>
</textarea><script>window.hit={k}</script>
--><script>window.hit={k}</script>
<!--<script>window.hit={k}//-->
]]><script>window.hit={k}</script>
<![CDATA[<script>window.hit={k}</script>]]>
<?xml version="1.0"?><x{k}/>
<!DOCTYPE x{k} [<!ENTITY e SYSTEM "file:///etc/hostname">]>&e;
" onmouseover="window.hit={k}
' onmouseover='window.hit={k}
` onmouseover=`window.hit={k}
x{k}" style="position:fixed;top:0
x{k}; background: url(OUT/{k}.png)
} body { background: url(OUT/{k}.png) } x{k} {
javascript:window.hit={k}
data:text/html,<script>window.hit={k}</script>
{{ 7 * {k} }}
{% for x in range({k}) %}x{% endfor %}
{{ self.__init__.__globals__ }} {k}
${window.hit={k}}
#{7*{k}}
<%= {k} %>
&lt;script&gt;window.hit={k}&lt;/script&gt;
&#60;script&#62;window.hit={k}&#60;/script&#62;
&amp;{k}
\\u003cscript\\u003ewindow.hit={k}\\u003c/script\\u003e
%3Cscript%3Ewindow.hit={k}%3C/script%3E
{"a{k}": "</script>"}
'; window.hit={k}; '
"; window.hit={k}; "
\\"; window.hit={k}; //
"""
WORDS = r"""
$\frac{{k}}{2}$
$\undefined{{k}}$
${k}
$$ {k} $$
$x_{k
\${k}\$
$\href{OUT/{k}}{x}$
\begin{{k}}
\input{{k}}
%s %d %n {k}
../../etc/{k}
C:\con\{k}
NUL{k}
=1+{k}
+{k}|x
@SUM({k})
-{k}
null {k}
None{k}
NaN {k}
0x{k}
{k}e999
"""
ODD = (
    "\u202egnp.{k}", "\u2066a{k}\u2069", "\u200b{k}\u200b", "\ufeff{k}", "a\x00b{k}", "\x1b[31m{k}",
    "\x08\x07{k}", "tab\t{k}", "line\nbreak{k}", "\r\n\r\n{k}", "\u2028{k}\u2029", "\x85{k}",
    "\ud800{k}", "{k}\udfff", "\ufffe{k}", "\uffff{k}", "\U0010ffff{k}", "e\u0301\u0301\u0301{k}",
    "Z\u0335\u0321\u0322{k}", "\u4e2d\u6587{k}", "\u0645\u0631\u062d\u0628\u0627{k}",
    "\U0001f469\u200d\U0001f680{k}", "\u1d00\u0432\u0430{k}", "\uff1cscript\uff1ehit={k}",
    "\u02bascript{k}", "<scr\x00ipt>window.hit={k}</script>", "<\u0130mg onerror=window.hit={k}>",
    "{k}" + "a" * 3000, "<" * 400 + "{k}", " " * 30 + "{k}", "{k}", "'{k}'", '"{k}"', "a{k};b",
)  # fmt: skip


def hostile_names(n: int, seed: int = 0, first: int = 0) -> list[str]:
    """``n`` different strings: each pattern in turn, then with changes that slip past filters.

    The names from the ``first`` on; each depends on its number and the seed alone.
    """
    names: list[str] = []
    seen: set[str] = set()
    for k in range(first + 1, first + n + 1):
        name = _named(k, random.Random(f"{seed} {k}"))
        names.append(name if name not in seen else f"{name} {k}")
        seen.add(names[-1])
    return names


def _named(k: int, rng: random.Random) -> str:
    if k <= len(ALL):
        return ALL[k - 1].replace("{k}", str(k))
    chosen = rng.choice(PATTERNS).replace("{k}", str(k))
    return f"{rng.choice(CHANGES)(chosen, rng)}{rng.choice(ENDS)}"


def _mixed(text, rng):
    return "".join(rng.choice((letter.upper(), letter.lower())) for letter in text)


def _spaced(text, rng):
    return text.replace("<", rng.choice(("< ", "<\t", "<\n", "<\x0c", "<<")), 1)


def _entities(text, rng):
    return "".join(f"&#{ord(c)};" if rng.random() < 0.3 else c for c in text)


def _nested(text, rng):
    return text.replace("script", rng.choice(("scr<script>ipt", "script/x", "script ")))


def _quoted(text, rng):
    return rng.choice(('">', "'>", "`>", "</td>", "</span>", "</p></section>", "\\")) + text


def _plain(text, rng):
    return text


CHANGES = (_mixed, _spaced, _entities, _nested, _quoted, _plain)
PATTERNS = [line for text in (MARKUP, WORDS) for line in text.strip("\n").split("\n")]
PATTERNS = [pattern.replace("OUT", OUTSIDE) for pattern in PATTERNS]
ALL = (*PATTERNS, *ODD)
ENDS = ("", "<!--", "//", "\\", "&", '"', "'", "\x00", " \u202e")
