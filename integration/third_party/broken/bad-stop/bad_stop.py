"""Raises what is no Exception."""


class Stop(BaseException):
    """Nobody catches it."""


raise Stop("here")
