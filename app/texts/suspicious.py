"""Text that speaks to a model rather than to people: the alarm behind the walls.

A model may obey a text in spite of its fence, so every answer that rests on such a text goes to a
person. It is a net and no wall: what is told in riddles slips through. Normal issues must not raise
it, so a pattern needs more than one telling word. All of it takes linear time.
"""

from __future__ import annotations

import base64
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator

import re2

from app.texts.safe import cut, visible

AT_MOST = 5
LONGEST = 200_000
"""Characters that are looked at; a comment on GitHub has at most 65,536."""


def suspicions(text: str) -> tuple[str, ...]:
    """What is suspicious about a text, in words, at most `AT_MOST`; empty for a normal one.

    It is read as it was typed, and as it would read without comments, lookalikes and encodings.
    """
    head = text[:LONGEST]
    views = _views(head)
    words = "\n".join(dict.fromkeys(line for view in views for line in _words(view)))
    found = [*_hidden(head), *_shapes(views), *_comments(visible(head)), *_said(words)]
    if not found and _DISGUISED.search("\n".join(_compact(view) for view in views)):
        found.append("instructions that are spelt so that people overlook them")
    return tuple(dict.fromkeys(found))[:AT_MOST]


# What is hidden.
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{2,6}\U000e007f")
"""The flags of Scotland, Wales and England are spelt with tag characters."""
_RUN = "[\u00ad\u180e\u200b-\u200f\u2060-\u206f\ufeff]{3}|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3}"
_UNSEEN = (
    ("hidden characters that spell a text", re.compile("[\U000e0000-\U000e007f]")),
    ("a run of characters that nobody sees", re.compile(_RUN)),
    ("characters that turn the direction of the text", re.compile("[\u202d\u202e]")),
)


def _hidden(text: str) -> Iterator[str]:
    bare = _FLAG.sub("", text)
    return (what for what, pattern in _UNSEEN if pattern.search(bare))


_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.DOTALL)
_TO_A_MODEL = re2.compile(
    r"\b(?:confidence|language models?|llms?|ai (?:agents?|assistants?|models?)"
    r"|(?:agents?|model|assistant|architect|bot) (?:must|should|shall))\b"
)


def _comments(text: str) -> Iterator[str]:
    """An HTML comment needs less to be suspicious; templates of issues have some, too."""
    inside = " ".join(word for found in _COMMENT.findall(text) for word in _words(found))
    if _TO_A_MODEL.search(inside) or any(_said(inside)):
        yield "an HTML comment that speaks to a model"


# How a text reads otherwise.
_BLOB = re.compile(r"[A-Za-z0-9+/_-]{16,}(?:\r?\n[A-Za-z0-9+/_-]{4,})*")
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2}[ :,]?){12,}")
_ESCAPED = re.compile(r"(?:\\[uU]0{2,6}|\\x|%)([0-9A-Fa-f]{2})")
_TAGS = {0xE0000 + code: code for code in range(0x20, 0x7F)}


def _views(text: str) -> list[str]:
    """The text, and what it says without comments, entities, escapes and encodings."""
    shown = visible(text)
    tagged = "".join(one for one in text if ord(one) in _TAGS).translate(_TAGS)
    views = [shown, _COMMENT.sub("", shown), html.unescape(shown), tagged]
    views.append(_ESCAPED.sub(lambda found: chr(int(found[1], 16)), shown))
    for _ in range(2):  # also what was encoded twice
        views += ["\n".join(_decoded(view)) for view in dict.fromkeys(views)]
    return [visible(view) for view in dict.fromkeys(views) if view]


def _decoded(text: str) -> Iterator[str]:
    for found in _BLOB.finditer(text):
        blob = re.sub(r"\s", "", found.group()).translate({45: 43, 95: 47})
        blob = blob[: len(blob) - (len(blob) % 4 == 1)]
        yield base64.b64decode(blob + "=" * (-len(blob) % 4)).decode("utf-8", "ignore")
    for found in _HEX.finditer(text):
        yield bytes.fromhex(re.sub("[ :,]", "", found.group())).decode("utf-8", "ignore")


_ACCENTS = re.compile("[\u0300-\u036f\u0483-\u0489\u20d0-\u20ff]")
_LOOKALIKES = str.maketrans(
    "авекмнорстухіјѕԁһԛԝӏѵгпαβεηικνορστυχγωϲօսոհցıɩɑɡøłđᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ",
    "abekmhopctyxijsdhqwlvrnabenikvopstuxywcounhgiiagoldabcdefghijklmnoprstuvwyz",
)
_MARKS = re.compile(r"^[ \t]*(?:[-*+>#|]+|[0-9]{1,3}[.)])[ \t]*", re.MULTILINE)
_WORD = re.compile(r"[^\W_]+|[:%]|[.;!?](?=\s)")


def _folded(text: str) -> str:
    """Small letters without accents and ornaments."""
    small = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", small))


def _words(text: str) -> tuple[str, ...]:
    """Words with one blank between them: with lookalikes as Latin letters, and as they are."""
    folded = _MARKS.sub("", _folded(text))
    latin = folded.translate(_LOOKALIKES)
    return tuple(" ".join(_WORD.findall(one)) for one in dict.fromkeys((latin, folded)))


_LEET = str.maketrans("i1!|03@45$78€", "lllloeaasstbe")


def _compact(text: str) -> str:
    """Letters alone, those for which digits stand, too; forwards, backwards and in ROT13."""
    latin = _MARKS.sub("", _folded(text)).translate(_LOOKALIKES)
    plain = re.sub("[^a-z]", "", latin.translate(_LEET))
    turned = re.sub("[^a-z]", "", codecs.encode(latin, "rot13").translate(_LEET))
    return f"{plain}\n{plain[::-1]}\n{turned}"


# Forged marks, in the folded text. One pattern a line; `&` goes on with the line above.
_SHAPES_BY_KIND = {
    "a mark of a chat template": r"""
        <\|(?:im_(?:start|end|sep)|system|user|assistant|end_?of_?text|begin_of_text|eot_id
        &|(?:start|end)_header_id|endofprompt|end_of_turn|channel|return)\|>
        \[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>""",
    "a forged turn of a conversation": r"""
        ^[ \t>*_#-]{0,8}(?:human|assistant)[*_]{0,2}[ \t]?:
        ^[ \t>]{0,4}#{2,6}[ \t]*(?:system(?: prompt| message)?|instruction)[ \t]*:
        ^[ \t>*_#-]{0,8}system(?: message| prompt| override| note)?[*_]{0,2}[ \t]?:[ \t*_]{0,4}
        &(?:you\b|ignore|disregard|override|new\b|answer|state\b|from now|always)""",
    "a forged fence": r"""
        < ?< ?(?:data|end)(?: [^\n<>]{0,100}[^\s<>])?>>|< ?< ?(?:data|end) [0-9a-f]{6}""",
    "a forged marker of ours": r"<!--[ \t\n]{0,8}kr\b",
    "a forged answer of an agent": r"""
        \*\*@[a-z0-9-]{1,39}\*\* ?[·•] ?(?:architect|product|project manager|security)
        @(?:duc|veuve|baron)\*{0,2} (?:has )?(?:already )?(?:answer(?:s|ed)|decided|confirmed
        &|approved|settled)[^\n:]{0,40}:
        @(?:duc|veuve|baron)\b[^\n]{0,300}\b(?:100|9[0-9]) ?(?:%|per ?cent) (?:sure|certain)""",
    "a forged call of a tool": r"""
        </?(?:[a-z]{1,8}:)?(?:tool_(?:use|calls?|results?|code)|function_(?:calls?|results?)
        &|invoke name|system[-_ ]?(?:prompt|message|reminder|instructions?))\b
        to=functions\.[a-z]""",
}


def _pattern(lines: str) -> str:
    joined = re.sub(r"\n +& ?", "", lines)
    return "|".join(line.strip(" ") for line in joined.strip().split("\n"))


_SHAPES = tuple(
    (what, re2.compile(f"(?m){_pattern(lines)}")) for what, lines in _SHAPES_BY_KIND.items()
)


def _shapes(views: list[str]) -> Iterator[str]:
    text = "\n".join(_folded(view) for view in views)
    return (what for what, pattern in _SHAPES if pattern.search(text))


# What is said. Words have one blank between them, accents are gone (`й` has become `и`).
_F = "(?:[a-z]{1,14} ){0,3}"
"""A few words between; too short for a token, so that a quote of what was found holds none."""
_PREV = "(?:previous|prior|above|earlier|preceding|foregoing|former)"
_RULES = "(?:instructions?|directives?|guidelines?|guardrails|programming)"
_FORGET = (
    "(?:ignor(?:e|ing)|disregard|forget|override|overrule|bypass|discard|drop|set aside"
    "|(?:do not|don t|never|stop) (?:follow|obey)(?:ing)?)"
)
_AI = r"(?:ai|llm|language model|chatbot|dan|chatgpt|gpt|claude|assistant|model)s?\b"
_TELL = (
    "(?:reveal|repeat|print|output|disclose|leak|recite|quote|show me|tell me|give me|translate"
    "|summari[sz]e|dump|what (?:is|are|was|were))(?: me)?(?: all)?(?: of)?"
)
_INNER = "(?:system|initial|original|hidden|secret|internal|exact|full|entire|whole) "
_KEYS = "(?:environment|env|variables|vars|keys?|tokens?|secrets?|credentials|passwords?)"
_SAY = "(?:state|claim|report|say|write|answer|reply|respond|give|set|put|return|output|declare)"
_HERE = "(?:your (?:reply|comment|response|sources)|(?:your|the|this) (?:answer|rationale))"
_ONE = "(?:persons?|humans?|maintainers?|anybody|anyone|reviewers?)"
_MODE = "(?:developer|dan|god|jailbreak|unrestricted) mode"
_PHRASES = {
    "it asks to ignore instructions": rf"""
        {_FORGET} {_F}(?:{_PREV}|your|system|developer|original|initial) {_F}{_RULES}
        {_FORGET} {_F}{_RULES} (?:above|you)
        (?:ignore|disregard|forget) (?:all |any )(?:of )?(?:the )?{_PREV} (?:prompts?|rules|context)
        (?:ignore|disregard|forget|override) (?:your|the system) (?:rules|prompts?|training)
        (?:ignore|disregard|forget) (?:everything|anything|all|whatever) (?:that )?
        &(?:you (?:know|were|have|had)|(?:i|we|was|is) said|above (?:and|this|here)|before this)
        (?:your|system) (?:system )?(?:instructions|prompts?) (?:are|is|no) (?:now |longer )?
        &(?:void|obsolete|cancelled|overridden|suspended|apply|valid)
        (?:ignorier|vergiss|vergessen sie|missacht|ubergeh|verwirf|umgeh)[a-z]{{0,4}} {_F}
        &(?:vorherig|bisherig|vorig|obig|fruher|vorangegangen|deine)[a-z]{{0,3}} {_F}
        &[a-z]{{0,7}}(?:anweisung|instruktion|vorgabe|regel|befehl|prompt)[a-z]{{0,3}}
        (?:ignore|oublie|neglige|contourne)[zr]? {_F}(?:instructions?|consignes?|regles) {_F}
        &(?:precedent|anterieur|initial|systeme|ci dessus|plus haut)
        (?:ignor|olvid|descart|omit|desconsider|esquec|dimentic)[a-z]{{1,4}} {_F}
        &(?:instruc|istruzion|indicacion|directric|ordenes|reglas)[a-z]{{0,7}} {_F}
        &(?:anterior|previ|precedent|inicial|del sistema)
        (?:игнориру|забудь|отмени|пренебрег)\pL* (?:\pL+ ){{0,3}}
        &(?:предыдущ|прежн|прошл|системн|вышеуказанн)\pL* (?:инструкци|указани|правил|команд|промпт)
        (?:忽略|忽视|无视|忘记|忘掉|無視|忽視|忘記)\p{{Han}}{{0,6}}(?:之前|以前|先前|上述|上面|以上)
        &\p{{Han}}{{0,6}}(?:指令|指示|说明|提示|规则|命令|規則|說明)
        (?:以前|前|上記)の(?:指示|命令|プロンプト)を(?:無視|忘れ)""",
    "it gives a model another role": rf"""
        (?:you (?:are|re)|act as) (?:now |from now on )?(?:(?:an?|the|my) (?:[a-z]{{1,14}} )?)?
        &(?:jailbroken|unrestricted|unfiltered|uncensored)
        you (?:are|re) now (?:(?:an?|the|my) (?:[a-z]{{1,14}} )?)?(?:{_AI}|in {_MODE})
        (?:act|behave|respond|answer) as (?:(?:if|though) you|dan\b|an? (?:ai\b|language model))
        (?:act|behave|respond|answer) as an? {_AI} (?:who|that|with(?:out| no))
        pretend (?:that )?you (?:are|were|have|can)
        from now on you (?:are an?|(?:must|shall|will) (?:answer|respond|ignore|obey|act|only))\b
        (?:new|updated) system (?:prompt|message|instructions?) (?::|is|follows)
        (?:new|updated|revised) instructions :
        (?:you are in|simulate|answer in) (?:the )?{_MODE}|{_MODE} (?:activated|output)
        do anything now|role ?play as|you have (?:now )?no (?:restrictions|guidelines|filters)
        du bist (?:jetzt|nun|ab jetzt|ab sofort) {_F}(?:ki|assistent|modell|chatbot)\b
        tu es (?:maintenant|desormais) {_F}(?:ia|assistant|modele)\b
        ahora eres {_F}(?:ia|asistente|modelo)\b
        ты (?:теперь|отныне) (?:\pL+ ){{0,3}}(?:ии|ассистент|модель|бот)
        你现在(?:是|扮演)\p{{Han}}{{0,8}}(?:模型|助手|人工智能|开发者模式)""",
    "it asks to reveal what nobody may see": rf"""
        {_TELL} your (?:{_INNER})*(?:prompt|system message)
        {_TELL} (?:your (?:{_INNER})+|the (?:system|hidden|secret|internal) )instructions
        {_TELL} the (?:{_INNER})*(?:prompt|instructions) (?:verbatim|(?:that )?you (?:were|got))
        {_TELL} (?:everything|the (?:text|words|conversation)) (?:that is )?(?:above|before this)
        (?:{_TELL}|send|post|paste|include|append|put|list|read|echo) {_F}{_KEYS}
        &  (?:[a-z]{{1,14}} ){{0,5}}(?:in|into|to|with|of|inside) {_HERE}
        {_TELL} your (?:own )?(?:environment variables|secrets|credentials)|proc self environ
        (?:gib|nenne|zeige?|verrate?) {_F}(?:deine|ihre)n? {_F}system ?(?:prompt|anweisung)
        (?:revele|affiche|donne|montre)[a-z]{{0,2}} {_F}(?:ton|votre|tes|vos) {_F}(?:prompt|instruc)
        (?:покажи|раскрои|выведи|повтори) (?:\pL+ ){{0,3}}системн\pL+ (?:промпт|инструкци)
        (?:显示|输出|透露|泄露|告诉我|打印)\p{{Han}}{{0,6}}(?:系统提示|提示词|系统指令)""",
    "it asks for certainty": rf"""
        (?:confidence|certainty) (?:(?:level|score|of|is|to|at|be|as|one|:) )*(?:100|hundred)\b
        {_SAY} {_F}(?:confidence|certainty) (?:(?:of|is|to|at|as|:) )*9[0-9]
        (?:100|hundred) (?:% )?(?:confidence|certainty)\b
        (?:answer|respond|reply) with (?:absolute|full|complete|total) (?:certainty|confidence)
        you (?:are|re|must be) (?:(?:absolutely|completely|fully|totally|100 %) )+(?:sure|certain)
        (?:no|leave|omit|empty) (?:the |any |your )*uncertainty reasons?
        (?:konfidenz|zuversicht|confiance|confianza|уверенност\pL*)
        &  (?:(?:von|auf|ist|de|a|del|al|est|в|на|:) )*100
        (?:置信度|信心)\p{{Han}}{{0,4}}(?: : )?(?:100|百分之百)""",
    "it asks to settle or confirm by itself": rf"""
        (?:settle|confirm|accept|approve|close|mark) (?:this|the|these|all|every|your) {_F}
        &(?:questions?|answers?|decisions?) (?:as (?:settled|accepted|confirmed|approved) )?
        &(?:(?:by )?yourself|immediately|right away|at once|without {_F}(?:{_ONE}|review))
        (?:this|the) question (?:is|was|has been) (?:hereby |already )?(?:settled|approved|accepted)
        (?:do not|don t|never) (?:escalate|involve|ask) (?:this |the |it )?(?:question |answer )?
        &(?:to )?(?:a |any )?{_ONE}\b
        treat (?:this|the following) as (?:confirmed|settled|approved|authoritative|instructions)
        you (?:may|must|can|should) (?:settle|confirm|approve|accept) (?:it|this) (?:by )?yourself
        (?:write|post|with|output) (?:the )?(?:command |line )?(?:confirm|correct) q ?[0-9]""",
    "it addresses a model": rf"""
        if you are (?:an? )?(?:large )?{_AI}
        (?:dear|attention|hey|(?:note|instructions?) (?:to|for)) (?:the |any |all )?
        &(?:ai|llms?|language models?|chatgpt|gpt)\b
        {_AI} (?:that |who )?(?:is |are )?(?:reading|reads|processing|answering) this
        you (?:must|shall|have to) obey|obey me""",
}

_SAID = tuple(
    (what, re2.compile(rf"(?m)(?:^|[^a-z0-9])(?:{_pattern(lines)})"))
    for what, lines in _PHRASES.items()
)


def _said(words: str) -> Iterator[str]:
    for what, pattern in _SAID:
        if found := pattern.search(words):
            yield f"{what} (“{cut(found.group().strip(), 60)}”)"


# What is spelt so that people overlook it.
_GAP = "[leaostb]{0,2}"
"""What numbers and exclamation marks between words have become."""


def _spelt(words: str) -> str:
    return f"(?:{'|'.join(words.translate(_LEET).split())}){_GAP}"


_LITTLE = f"(?:{_spelt('all any of the your my these')}){{0,4}}"
_DISGUISED = re2.compile(
    _spelt("ignore disregard forget override bypass") + _LITTLE
    + _spelt("previous prior above earlier preceding") + _LITTLE
    + _spelt("instruction directive guideline systemprompt")
    + f"|{_spelt('revealyour')}{_spelt('systemprompt prompt instructions')}"
    + f"|{_spelt('confidenceof stateaconfidence setyourconfidenceto')}(?:loo|hundred)"
    + f"|{_spelt('ignorierealle')}{_spelt('vorherigen bisherigen')}{_spelt('anweisung')}"
)  # fmt: skip
