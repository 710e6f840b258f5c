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


def covers(orders: tuple[tuple[int, ...], ...]) -> bool:
    """Return whether the sums of prefixes are all 2ᴮ vectors.

    A set of vectors is an integer with 2ᴮ bits. Adding the unit vector i to all of its members exchanges neighboring
    blocks of 2ⁱ bits.

    Examples
    --------
    >>> from rhostar.theory._parity_orders import ORDERS, covers
    >>> covers(ORDERS[5]), covers(ORDERS[5][:4])
    (True, False)
    """
    size = len(orders[0])
    blocks = [_every_other_block(1 << i, 1 << size) for i in range(size)]
    found = 1
    for order in orders:
        moved = found
        for i in order:
            moved = (moved & blocks[i]) << (1 << i) | moved >> (1 << i) & blocks[i]
            found |= moved
    return found.bit_count() == 1 << size


def _every_other_block(width: int, total: int) -> int:
    """Return the integer of `total` bits in which blocks of `width` ones and zeros alternate, ones lowest."""
    found, length = (1 << width) - 1, 2 * width
    while length < total:
        found |= found << length
        length *= 2
    return found
