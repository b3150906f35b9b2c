"""Markdown as GitHub shows it: rendered, then cleaned of everything that is not harmless."""

from __future__ import annotations

import re
from functools import lru_cache

import nh3
from markdown_it import MarkdownIt

_TAGS = {
    *("a", "b", "blockquote", "br", "code", "dd", "del", "details", "div", "dl", "dt", "em"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "input", "ins", "kbd", "li", "ol"),
    *("p", "pre", "q", "s", "samp", "span", "strike", "strong", "sub", "summary", "sup"),
    *("table", "tbody", "td", "th", "thead", "tr", "ul"),
}
_ATTRIBUTES = {
    "a": {"href", "title"},
    "code": {"class"},
    "details": {"open"},
    "img": {"src", "alt", "title", "width", "height"},
    "input": {"type", "checked", "disabled"},
    "ol": {"start"},
    "span": {"class"},
    "td": {"align", "style"},
    "th": {"align", "style"},
}
_TASK = re.compile(r"<li>(\s*<p>)?\[([ xX])\] ")
_MENTION = re.compile(r"(?<![\w/@.>-])@([A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)(?![\w@])")
_PARTS = re.compile(r"(<pre.*?</pre>|<code.*?</code>|<a .*?</a>|<[^>]*>)", re.DOTALL)


@lru_cache(maxsize=512)
def render(text: str) -> str:
    """Safe HTML."""
    engine = MarkdownIt("commonmark", {"html": True, "linkify": False, "breaks": True})
    engine.enable(["table", "strikethrough"])
    html = nh3.clean(
        _TASK.sub(_task, engine.render(text)),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        attribute_filter=_filter,
        link_rel="nofollow noopener noreferrer",
    )
    return _mentions(html)


def _filter(tag: str, name: str, value: str) -> str | None:
    if tag == "input" and name == "type":
        return "checkbox"
    if name == "style":
        return value if re.fullmatch(r"text-align:(left|right|center)", value) else None
    if name == "class":
        return value if re.fullmatch(r"language-[\w+-]+|mention", value) else None
    if tag == "img" and name == "src":
        return None  # a page of the playground asks nothing of other hosts
    return value


def _task(found: re.Match[str]) -> str:
    checked = " checked" if found[2] in "xX" else ""
    return f'<li>{found[1] or ""}<input type="checkbox" disabled{checked}> '


def _mentions(html: str) -> str:
    """`@name` in bold, outside of code and links."""
    parts = _PARTS.split(html)
    for at in range(0, len(parts), 2):
        parts[at] = _MENTION.sub(r'<span class="mention">@\1</span>', parts[at])
    return "".join(parts)
