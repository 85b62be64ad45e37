"""Each repair has a name, by which the README describes it."""

from collections.abc import Callable

# In the order in which they are carried out: later ones build on earlier ones.
REPAIRS: dict[str, Callable[[], None]] = {}


def repair(name: str):
    def register(carry_out):
        REPAIRS[name] = carry_out
        return carry_out

    return register
