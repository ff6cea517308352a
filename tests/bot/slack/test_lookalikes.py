"""Characters that seem to be others, and those that are only what they are."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slack.text import lookalikes, visible

DECEIVING = {
    "Cyrillic a": "p\u0430ypal",
    "Cyrillic palochka": "paypa\u04cf",
    "Cyrillic O between digits": "40\u041e817",
    "Cyrillic ze between digits": "40\u0417817",
    "Cyrillic e before a hyphen": "\u0435-mail",
    "a Cyrillic domain part": "\u0440\u0430\u0443.com",
    "a word of twins among Latin ones": "send it to \u0441\u043e\u0440 now",
    "Greek o": "g\u03bfogle",
    "Armenian o": "g\u0585\u0585gle",
    "Cherokee": "\u13aamazon",
    "Latin alpha": "p\u0251ypal",
    "Latin script g": "\u0261oogle",
    "a small capital": "\u1d00pple",
    "a click letter": "https:\u01c0x",
    "fullwidth": "\uff50aypal",
    "fullwidth beside ASCII": "a\uff0fb",
    "mathematical": "\U0001d429aypal",
    "mathematical digits": "\U0001d7ce",
    "Kelvin": "\u212aelvin",
    "one dot leader": "evil\u2024com",
    "fraction slash": "http:\u2044\u2044x",
    "division slash": "a\u2215b",
    "ratio": "a\u2236b",
    "em space": "10\u2003000",
    "no-break spaces": "ok\u00a0\u00a0x",
    "one no-break space": "rm\u00a0-rf",
    "an ideographic space among ASCII": "a\u3000b",
    "a Bengali four that looks like eight": "৪00",
    "a Bengali seven that looks like nine": "৭00",
    "Bengali digits alone": "৪০০",
    "a Gurmukhi digit": "੧00",
    "a Devanagari digit": "४00",
    "an Oriya digit": "୨00",
    "a Thai zero": "1๐0",
    "a Lao zero": "1໐0",
    "an NKo zero": "1߀0",
    "an Arabic digit beside others": "1٥0",
    "Arabic digits alone": "١٠٠",
    "an Arabic decimal sign": "1٫000",
    "Cyrillic yo": "Zoё@x.com",
    "Cyrillic yi": "naїve",
    "Cyrillic short i": "йoe",
    "Greek omicron with tonos": "gόogle.com",
    "Greek gamma": "γahoo",
    "Hebrew samekh": "gסogle.com",
    "Arabic heh": "gهogle",
    "Malayalam": "gഠഠgle.com",
    "Myanmar": "gဝogle.com",
    "Oriya": "gଠogle.com",
    "Georgian": "paყpal.com",
    "a dotless i in an address": "mıcrosoft.com",
    "a dotless i in a mail address": "bıll@x.com",
    "small capitals": "ᴘᴀʏ",
    "one small capital": "ꜱ",
    "a Cherokee word": "ᎪᏢᏢ",
    "a Canadian word": "ᗪᗅᑌ",
    "a Lisu word": "ꓮꓑꓑ",
    "a Cyrillic word of twins": "РАУРАӀ",
    "a Greek word of twins": "ΡΑΥ",
    "a Cherokee word in Russian": "оплатить ᎪᏢᏢ",
    "an ideographic full stop": "evil。com",
    "a katakana dot": "evil・com",
    "an ideographic comma": "1、000",
    "a katakana slash": "a.comノpath",
    "an ideographic zero": "1〇00",
    "an Ethiopic colon": "a፡b",
    "a hyphen in an address": "evil‐corp.com",
    "a hyphen that does not break in an address": "evil‑corp.com/x",
    "a Khmer vowel that is not seen": "pay\u17b4 bob",
    "a musical sign that is not seen": "pay\U0001d159bob",
    "an object replaced": "a\ufffcb",
    "struck out": "1\u0336000\u0336",
    "an overlay": "=\u0338",
    "stacked marks": "a" + "\u0301" * 60,
}
HONEST = {
    "German": "Größe 5 für Jürgen",
    "Turkish": "kırmızı",
    "Vietnamese": "Nguyễn",
    "Russian": "оплатить счёт на сумму 500 рублей, а не сор",
    "Russian with Latin words": "оплатить Apple за IT-отдел, web-сайт и e-mail",
    "a single Russian letter": "и я о нём",
    "Greek": "πληρωμή για το νερό",
    "Greek symbols": "5 μm, πr, Δt",
    "Armenian": "Բարև",
    "Japanese": "Tシャツを３枚、（税込）です。",
    "Japanese with its blank": "東京　大阪",
    "Korean": "Wi-Fi를 켜세요",
    "Hebrew": "שלום",
    "Arabic": "مرحبا",
    "French": "Combien ? « 10 000 » !",
    "units": "m², km³, 25 °C, 1½, x₁",
    "typography": "“so” – it’s … ①",
    "ASCII": "plain-text_1.0 /x",
    "Bengali": "৪০০ টাকা",
    "Arabic with its digits": "المبلغ ١٢٫٥ دينار",
    "Persian with its digits": "مبلغ ۱۵۰ تومان",
    "Hindi": "५०० रुपये",
    "Thai": "จ่าย ๑๐๐ บาท",
    "Georgian": "გადახდა",
    "Amharic": "ሰላም፡ዓለም",
    "Ukrainian": "сплатити ще їжу",
    "Greek with accents": "το ποσό όλο",
    "formulae": "Δt, πr², 3σ, sin θ",
    "hyphens in a sentence": "a state‑of‑the‑art e‐mail",
    "Vietnamese in parts": "Nguye\u0302\u0303n",
    "Japanese with Latin words": "GitHubのIssueを2件・確認。",
    "Chinese": "向Anna支付100元，二〇二六年。",
    "a micro sign": "5 µm",
    "Hebrew with points": "שָׁלוֹם",
    "emoji": "👍🏽 1️⃣ ✅ 👩‍💻",
    "accents": "naïve café São Tomé Łódź",
    "Catalan": "col·legi",
}


@pytest.mark.parametrize("text", DECEIVING.values(), ids=DECEIVING)
def test_what_deceives_is_spelled_out(text: str):
    """What seems to be another character is spelled out, and said."""
    shown, deceiving = visible(text)
    assert deceiving
    assert "\\u{" in shown


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_what_is_at_home_stays(text: str):
    """Whole words of any language, its marks and its blanks are shown as they are."""
    assert visible(text) == (text, False)


def test_every_letter_of_a_mathematical_alphabet():
    """No character that Unicode calls a font of an ASCII one passes."""
    fonts = [chr(n) for n in range(0x1D400, 0x1D800)]
    plain = [c for c in fonts if unicodedata.normalize("NFKC", c).isascii() and c.isalnum()]
    assert len(plain) > 700
    assert all(lookalikes(char) for char in plain)


@given(st.text())
def test_any_text_is_looked_at(text: str):
    """Whatever text: the places that are found are places in it, none of them ASCII."""
    assert all(not text[place].isascii() for place in lookalikes(text))
