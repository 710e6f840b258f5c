"""The report: one page that shows what was learned, how it does, what can be promised, and the searches themselves."""

from typing import TYPE_CHECKING

from rhostar.lazy import attach

if TYPE_CHECKING:
    from rhostar.report.comparison import build, compare
    from rhostar.report.html import render, write
    from rhostar.report.method import Method
    from rhostar.report.sections import certificate_curves, certificate_view, dual_view, generalisation_curve
    from rhostar.report.timing import Timing, time_methods
    from rhostar.report.view import Report

_HOME = {
    "Method": "method",
    "Report": "view",
    "Timing": "timing",
    "build": "comparison",
    "certificate_curves": "sections",
    "certificate_view": "sections",
    "compare": "comparison",
    "dual_view": "sections",
    "generalisation_curve": "sections",
    "render": "html",
    "time_methods": "timing",
    "write": "html",
}

__all__ = [
    "Method",
    "Report",
    "Timing",
    "build",
    "certificate_curves",
    "certificate_view",
    "compare",
    "dual_view",
    "generalisation_curve",
    "render",
    "time_methods",
    "write",
]

__getattr__, __dir__ = attach(__name__, _HOME)
