"""Evidence against a guarantee: answers become losses whose mean is bounded, and a bettor bets on larger losses."""

from __future__ import annotations

import math

from rhostar.certificates._certificate import Certificate
from rhostar.certificates._sentence import outward
from rhostar.errors import InputError

# Shares of the largest bet that cannot ruin: timid ones see small rises, bold ones see large ones soon.
_STAKES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
# The mean of a window varies less than single losses, and there are fewer of them: bolder.
_STAKES_ON_WINDOWS = (0.05, 0.2, 0.5, 0.95)
# Capitals are cut off here; they prove enough.
_MOST = 1e300
# Relative; a value this little above a certain bound is put down to rounding.
_TOLERANCE = 1e-9


class Capital:
    """The capital of a bettor who bets that losses are larger than guaranteed.

    While every loss x within [0, 1], given those before it, has a mean of at most m, each product of 1 + λ(x − m) with
    0 ≤ λ ≤ 1/m is a non-negative supermartingale. The bettor spreads a capital of 1 over several stakes λ and over all
    starting times j = 1, 2, … (a share of 1/(j(j+1)) waits for time j), so that a long good time does not delay the
    alarm by more than 2 ln j in the logarithm. The sum is a supermartingale too, and by Ville's inequality it ever
    reaches 1/α with probability at most α. The m may differ from bet to bet, if each is known before its loss.
    """

    def __init__(self, *, on_windows: bool = False) -> None:
        self._stakes = _STAKES_ON_WINDOWS if on_windows else _STAKES
        self._staked = [0.0] * len(self._stakes)
        self._bets = 0
        self.value = 1.0
        """The capital."""

    def bet(self, loss: float, m: float) -> None:
        """Take the next loss, of which the mean is guaranteed to be at most `m`; inf for one that cannot be."""
        self._bets += 1
        share = 1 / (self._bets * (self._bets + 1))
        if loss > 0 and (m <= 0 or math.isinf(loss)):
            self._staked = [_MOST] * len(self._stakes)  # the guarantee says that this never happens
        else:
            gain = loss / m - 1 if m > 0 else 0.0
            self._staked = [
                min((staked + share) * (1 + stake * gain), _MOST)
                for staked, stake in zip(self._staked, self._stakes, strict=True)
            ]
        self.value = sum(self._staked) / len(self._stakes) + 1 / (self._bets + 1)


class Watched:
    """A certificate as a guarantee for losses within [0, 1], and the losses that were seen.

    A mean becomes a mean of u/H, or of 1 − u/H where higher is better. A quantile becomes the share of answers that
    miss it, and a guarantee for every answer a share of 0.

    Raises
    ------
    InputError
        If nothing can break the guarantee, or its range is not known.
    """

    def __init__(self, certificate: Certificate, *, on_windows: bool = False) -> None:
        if not isinstance(certificate, Certificate):
            raise InputError(f"certificate must be a Certificate or a table, got {type(certificate).__name__}")
        if certificate.vacuous:
            raise InputError("the certificate is vacuous: nothing can violate it")
        self.certificate, self.capital = certificate, Capital(on_windows=on_windows)
        self._flip = certificate.side == "lower"
        self._range = 1.0
        if certificate.statistic == "mean":
            self._range = _range(certificate)
            bounded = certificate.value / self._range
            self.m = 1 - bounded if self._flip else max(bounded, 0.0)
            """The mean loss that is guaranteed."""
            if self.m >= 1:
                raise InputError("the certificate is vacuous: nothing can violate it")
        elif certificate.statistic == "quantile":
            assert certificate.share is not None
            self.m = 1 - certificate.share
        else:
            self.m = 0.0
        self.total = 0.0
        """The sum of all losses."""
        # The losses of the window that is not full yet.
        self.window: list[float] = []

    def loss(self, value: float) -> float:
        """Return the loss of an answer; inf where a certain bound on every answer is broken."""
        guarantee = self.certificate
        if guarantee.statistic != "mean":
            slack = _TOLERANCE * abs(guarantee.value)
            return float(value < guarantee.value - slack if self._flip else value > guarantee.value + slack)
        if guarantee.limit is None and value > self._range * (1 + _TOLERANCE):
            return math.inf
        share = min(value / self._range, 1.0)
        return 1 - share if self._flip else share

    def shown(self, value: float) -> float:
        """Return an answer as it counts in the mean: clipped at the range."""
        return min(value, self._range) if self.certificate.statistic == "mean" else value

    def close(self) -> float:
        """Close the open window, which must not be empty, and return its mean."""
        mean = math.fsum(self.window) / len(self.window)
        self.window.clear()
        return mean

    def words(self, *, windows: bool) -> str:
        """Return what one answer, or the mean of a window, must keep, given those before it, in words."""
        guarantee = self.certificate
        value = outward(guarantee.value, guarantee.side, 5)
        if guarantee.statistic == "mean":
            what = "an expectation" if windows else "a mean"
            return f"{what} of at {'least' if self._flip else 'most'} {value}"
        beyond = f"{'below' if self._flip else 'above'} {value}"
        if self.m == 0:
            return f"no chance to be {beyond}"
        what = "an expected share" if windows else "a probability"
        return f"{what} of at most {outward(self.m, 'upper')} to be {beyond}"


def _range(certificate: Certificate) -> float:
    """Return the range of the utilities: H, or where nothing is clipped the certain one that was measured."""
    found = certificate.measured.get("range") if certificate.limit is None else certificate.limit
    if found is None:
        raise InputError("this certificate has neither a limit nor a range, so bets against it would be unbounded")
    return float(found)
