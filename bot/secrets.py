"""What looks like a password, a token or a key: in texts, and by the names values stand under.

Pure. `masked` is for a text, `covered` for a value with parts. A name is that of a secret by its
last words: `db_password` is, `password_reset` is not. Under a name that may as well mean something
else, such as `token`, a value is secret only if it looks drawn by lot.
"""

import functools
import re
import unicodedata
from collections.abc import Iterator
from typing import Literal

from pydantic import JsonValue

Kind = Literal["", "code", "drawn", "whole"]
"""What is secret under a name: nothing, a number of few digits, what looks drawn, everything."""

MASK = "••• masked •••"
"""What stands for a secret where people decide about what is beside it."""

_NAMES = "|".join(
    (
        *("pass(?:word|wd|phrase|code|wort)s?", "kennw[oö]rt(?:er)?", "pwd", "secrets?"),
        *("contrase[nñ]as?", "mots?[ _-]?de[ _-]?passe", "senhas?", "palavras?[ _-]?passe"),
        *("credentials?", "wachtwoord(?:en)?", "l[öo]senord", "adgangskode", "passord"),
        *("has[łl]o", "heslo", "jelsz[óo]", "salasana", "[şs]ifre", "пароль", "κωδικός", "סיסמה"),
        *("密码", "密碼", "パスワード", "비밀번호", "암호", "รหัสผ่าน", "mật khẩu", "kata sandi"),
        r"(?:access|account|api|auth|encryption|master|private|secret|shared|signing)[ _-]?keys?",
        r"(?:access|api|auth|bot|id|private|refresh|security|session)[ _-]?token",
    )
)
_MORE = r"(?:[ _-]?(?:again|confirm(?:ation)?|hash|new|old|plain|raw|repeat(?:ed)?|value|\d+))*"
_WHOLE = re.compile(rf"(?:{_NAMES}){_MORE}\W*", re.IGNORECASE)
_DRAWN_NAMES = "token|authori[sz]ation|auth|bearer|cookie|pass|passkey|pw|clave|parola"
_NAMED_DRAWN = re.compile(rf"(?:^|[\W_])(?:{_DRAWN_NAMES})s?{_MORE}\W*$")
_NAMED_CODE = re.compile(r"(?:^|[\W_])(?:pin|cvv|cvc|otp|totp)\W*$")
_CODE = re.compile(r"\s*\d{3,8}\s*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_UNDRAWN = (
    r"(?!0x[0-9A-Fa-f]{40}\b|[A-Za-z]+[-_.#]\d{1,9}(?![\w~+/-])|\d{1,4}[a-z]{0,3}-?[a-z]+\b|\d{4}-\d\d"
    r"|[A-Z]{2}\d\d(?:[A-Z]{4})?\d{11,26}(?![\w.~+/-])"
    r"|(?:[A-Z]{2,6}\d{1,8}|[A-Z]{1,6}\d{0,4}(?:[-_./#]\d{1,6}){1,3})(?:-?[A-Z])?(?![\w.~+/-]))"
)
"""No token, though it has digits and letters: an address in a ledger, `SHOP-12`, `3rd-time`, an
account's number, `PO-2026-4711-A`."""
_DRAWN = (
    rf"{_UNDRAWN}(?=[\w.~+/-]{{0,99}}(?:\d|[a-z][A-Z]\w{{16}}))(?=[\w.~+/-]{{0,99}}[A-Za-z])"
    r"[\w.~+/-]{8,}=*"
)
_IS_DRAWN = re.compile(rf"(?<![\w.~+/-]){_DRAWN}")
_SENTENCE = (
    r"(?!(?:null|none|nil|true|false|yes|no|a|an|and|are|as|at|by|can|expire[sd]|for|from|has|if|in"
    r"|invalid|is|it|missing|must|not|of|on|optional|or|required|reset|see|the|this|to|unchanged"
    r"|was|when|will|with|wrong)\b(?![-.]?\w))"
)
"""What follows the name of a secret in a sentence."""
_SIGN = r"\\{0,16}[\"']?\s*(?:=>|:=|[:=：＝])\s*"
_QUOTED = r"(\\{1,16}[\"'])(?:(?!\\{1,16}[\"'])[^\n])+|(\")(?:[^\"\\]|\\.)+|(')[^'\n]+"
_SUM = r"\d{1,3}(?:[.,\u202f']\d{3}){0,4}(?:[.,]\d{1,2})?"
_PROSE = rf"(?![€$£¥]\d|\d{{1,2}}(?![\w.,])|{_SUM}[ \t]+[^\W\d_]|{_SUM}[ \t]*[€$£¥×])"
"""No secret behind a name: an amount, or so many of something."""
_BARE = rf"{_SENTENCE}{_PROSE}(?:[^\s\"',;&{{}}\[\]<>\\]|\\(?![\"']))+"
_ISSUED = "|".join(
    (
        *("do[opr]_v1_", "shp(?:at|ca|pa|ss)_", "pypi-AgE", "whsec_", "GOCSPX-", "HRKU-"),
        *(r"hv[brs]\.", "dckr_[op]at_", "gl(?:c|sa)_", "ntn_", "lin_(?:api|oauth)_", "figd_"),
        *("PMAK-", "NRAK-", r"dp\.(?:ct|pt|sa|scim|st)\.", "sntry[su]_", "sbp_", "fo1_"),
        *("pscale_(?:oauth|pw|tkn)_", "gl(?:agent|cbt|dt|ft|ptt|rt|soat)-", "ATATT3"),
        *("AGE-SECRET-KEY-", "sq0(?:atp|csp)-", "rubygems_", "EZ[AT]K(?=[A-Za-z0-9]{16})"),
        *("(?:dapi|SK)(?=[0-9a-f]{32})", "key-(?=[0-9a-z]{32})"),
    )
)
"""What the tokens of those who issue them begin with."""
_LOT = r"(?=[A-Za-z0-9]{0,40}(?:[A-Za-z]\d|\d[A-Za-z]))[A-Za-z0-9]{10}"
"""Letters and digits in no order that a word or a date has."""
_SECRETS = re.compile(
    "|".join(
        (
            r"xox[a-z]{1,8}(?:\.xox[a-z]{1,8})?-[\w-]+|xapp-[\w-]+|xwfp-[\w-]+",
            r"AIza[\w-]{20,}|\bsk-(?=[\w-]{0,60}\d)[\w-]{16,}|\b[rs]k_(?:live|test)_\w{10,}",
            r"\bgh[pousr]_\w{16,}|github_pat_\w{16,}|\bglpat-[\w-]{16,}|\bnpm_\w{30,}|\bhf_\w{30,}",
            r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bya29\.[\w-]{20,}|\bSG\.[\w-]{16,80}\.[\w-]{16,}",
            rf"\b(?:{_ISSUED})(?=[\w-]{{0,60}}?{_LOT})[\w-]{{12,}}",
            r"\b\d{8,10}:AA[\w-]{30,}|\b[MNO][\w-]{16,27}\.[\w-]{6}\.[\w-]{27,}",
            r"[\w.~-]{0,3}\dQ~[\w.~-]{20,}(?<!\.)|\b\w{14}\.atlasv1\.[\w-]{12,}|\bpat\w{14}\.[0-9a-f]{32,}",
            r"\beyJ[\w-]{5,900}\.[\w-]{5,}\.[\w-]*",
            r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*?"
            r"(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
            r"hooks\.slack\.com/(?:services|triggers|actions|workflows)/[\w/-]+",
            r"(?<=://)[^\s/@:]{0,128}:[^\s/@]{1,1024}(?=@)",
            rf"(\b(?i:bearer)\s+)(?:(?=[A-Za-z])|(?=[\w.~+/-]{{16}})){_DRAWN}",
            r"(\b(?i:authori[sz]ation\W{1,4}basic)\s+)[A-Za-z0-9+/]{6,}={0,2}",
            r"(\b(?i:basic)\s+)(?=[A-Za-z0-9+/]{11,999}=|(?:[A-Za-z0-9+/]{0,40}?[a-z0-9][A-Z]){3})"
            r"[A-Za-z0-9+/]{11,}={0,2}(?![\w-])",
            rf"((?<!\d)(?<!['’]s )(?i:{_NAMES}){_SIGN})(?:{_QUOTED}|(\[)[^\[\]{{}}]+|{_BARE})",
            rf"(<(?i:[\w:.-]{{0,40}}?(?:{_NAMES}))(?:\s[^<>]{{0,200}})?>)[^<]+(?=</)",
            rf"((?<![\w-])--?(?i:[\w-]{{0,40}}?(?:{_NAMES}|token(?![ \t]+\d{{1,6}}(?!\S))))[ \t]+)"
            rf"(?:{_QUOTED}|(?!-){_BARE})",
            rf"(\b(?i:{_DRAWN_NAMES}){_SIGN}[\\\"']*(?i:(?:token|key|bearer|basic)\s+)?){_DRAWN}",
            r"([?&;#](?i:[\w.-]{0,40}?(?:token|signature|sig))=)"
            rf"{_UNDRAWN}(?:(?=[^\s&#]{{0,99}}\d)[^\s&#\"'<>]{{6,}}|[^\s&#\"'<>]{{16,}})",
            r"(\b(?:mysql|mariadb)-?\w{0,12}\b[^\n|;]{0,200}?\s-p)(?=\S)(?!ort\b)(?:"
            + _QUOTED
            + r"|[^\s\"']+)",
            r"(\bsshpass\s+-p\s*)(?:" + _QUOTED + r"|[^\s\"']+)",
            r"(\b(?:curl|wget|https?)\b[^\n|;]{0,200}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']+:)"
            r"[^\s\"']+",
        )
    ),
    re.DOTALL,
)
"""Secrets in texts; what is in a group stands before one and is told."""
_MAYBE = re.compile(r"[-_:=@.<：＝~]|A[KS]IA|AIza|ATATT3|EZ[AT]K|dapi|SK\w{8}|(?i:earer|asic)\s")
"""What is in every text that has a secret; most have nothing of it."""
_UNSEEN = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u034f")


def masked(text: str, *, by: str = "***", name: str = "") -> str:
    """The text with something else for all in it that looks like a token, a key or a password.

    `name` is what it stands under, if anything.
    """
    match kind_of(name) if name else "":
        case "whole":
            return by if text.strip() else text
        case "code" if _CODE.fullmatch(text):
            return by
        case "drawn":
            text = _IS_DRAWN.sub(lambda _: by, text)
        case _:
            pass
    return _without(text, by) if _MAYBE.search(text) else text


def covered(value: JsonValue, *, by: str = "***", name: str = "") -> JsonValue:
    """The value with something else for every secret in it; numbers may become texts.

    `name` is what it stands under, if anything.
    """
    match value:
        case dict():
            return _covered(value, by=by, name=name)
        case list():
            return [covered(each, by=by, name=name) for each in value]
        case str():
            return masked(value, by=by, name=name)
        case bool() | None:
            return value
        case _:
            return by if _is_secret(value, name) else value


def named_secrets(value: JsonValue, *, name: str = "") -> Iterator[JsonValue]:
    """The texts and numbers in a value that are secret by what they stand under."""
    match value:
        case dict():
            for key, each in value.items():
                yield from named_secrets(each, name=_stricter(name, key))
        case list():
            for each in value:
                yield from named_secrets(each, name=name)
        case bool() | None | "":
            return
        case _:
            if _is_secret(value, name):
                yield value


@functools.lru_cache(maxsize=2_000)
def kind_of(name: str) -> Kind:
    """What is secret under a name."""
    if any(found.end() == len(name) for found in _WHOLE.finditer(name)):
        return "whole"
    words = _HUMP.sub("_", name).lower()
    if _NAMED_DRAWN.search(words):
        return "drawn"
    return "code" if _NAMED_CODE.search(words) else ""


def _is_secret(value: JsonValue, name: str) -> bool:
    """Whether a text or number is one as a whole, by its name; a number under a plural counts."""
    kind = kind_of(name) if name else ""
    text = str(value).strip()
    if kind == "whole":
        return isinstance(value, str) or not name.rstrip().endswith("s")
    if kind == "drawn":
        return isinstance(value, str) and _IS_DRAWN.fullmatch(text) is not None
    return kind == "code" and _CODE.fullmatch(text) is not None


def _covered(value: dict[str, JsonValue], *, by: str, name: str) -> JsonValue:
    found: dict[str, JsonValue] = {}
    for key, each in value.items():
        shown = masked(key, by=by)
        place = shown if shown not in found else f"{shown} {len(found) + 1}"
        found[place] = covered(each, by=by, name=_stricter(name, key))
    return found


def _stricter(name: str, inner: str) -> str:
    """Of two names that a value stands under, the one that makes more of it a secret."""
    kinds = ("", "code", "drawn", "whole")
    return name if name and kinds.index(kind_of(name)) > kinds.index(kind_of(inner)) else inner


def _without(text: str, by: str) -> str:
    """The text without its secrets, also where characters that nobody sees stand in them."""
    places = range(len(text))
    bare = text
    if not text.isascii():
        seen = [place for place, char in enumerate(text) if not _is_unseen(char)]
        bare, places = "".join(text[place] for place in seen), [*seen, len(text)]
    pieces, end = list[str](), 0
    for found in _SECRETS.finditer(bare):
        start = found.start() + sum(map(len, filter(None, found.groups())))
        if bare.startswith(by, start):
            continue
        pieces += [text[end : places[start]], by]
        end = places[found.end() - 1] + 1
    return "".join([*pieces, text[end:]])


def _is_unseen(char: str) -> bool:
    return not char.isascii() and (unicodedata.category(char) == "Cf" or char in _UNSEEN)
