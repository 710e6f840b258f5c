from ._pieces import pieces as pieces
