"""Orders whose prefixes add up to every pattern, for :mod:`rhostar.theory._parity`.

For m layers there are m orders of B instances. Over F₂, a prefix of an order is the sum of the unit vectors of its
members, and the sums of m prefixes, one of each order, are all 2ᴮ vectors. Found by hill climbing (m ≤ 5) and by taking
greedily, of a few instances drawn at random, the one that adds most vectors (m = 6, 7).
"""

from __future__ import annotations

_LETTERS = {
    1: "a",
    2: "abc bca",
    3: "abcdefg geadcfb cfgbdae",
    4: "abcdefghijk cekafbdhigj daehjbkfgci fjaidchebkg",
    5: "abcdefghijklmno mbkhoelfiajcndg fmikabdegljhnoc kmfgehaniobdcjl ofjebagmcnidlhk",
    6: (
        "abcdefghijklmnopqrst jrpalngdtobqfmkechsi faicnqhpejosdmrbgktl snkpdaqitgeolrcjbfhm "
        "ipgckohnajslftemdbrq jtcrefnkhdqmpioalbsg"
    ),
    7: (
        "abcdefghijklmnopqrstuvwxy ecrotqknavjpmiusfwlygxbdh pwsyofmbrjenxqaulidkvhtcg "
        "uriyckgpxhsmwaljftnbvodeq qwtbhlxrfnkupemydgjscviao mwqcujoetysafkxdlnbgvprhi "
        "sdpiqlejytkbcfmrxnauvghow"
    ),
}
"""Each word is an order; its letters are the instances a, b, c, ..."""

ORDERS: dict[int, tuple[tuple[int, ...], ...]] = {
    layers: tuple(tuple(ord(letter) - ord("a") for letter in word) for word in words.split())
    for layers, words in _LETTERS.items()
}
"""For each number of layers m, the m orders of B instances."""
