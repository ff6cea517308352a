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
