from ._answers import Nearest as Nearest
from ._answers import Within as Within
from ._route import Route as Route
from ._route import Routes as Routes
from ._router import Router as Router
from ._turns import Street as Street
from ._turns import TurnRouter as TurnRouter
from ._work import Explanation as Explanation
