"""Inputs that the programs of a run read: arrays in slots, and the memory of variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from byparts_frontend_tf.running.known import type_of
from byparts_frontend_tf.running.tree import Slots
from byparts_graph_ir import Input, Value, producers
from byparts_runtime import Variable as Stored


class Inputs(Protocol):
    """Values that are known before a program runs.

    Attributes:
        slot_of: value -> the slot that holds it: inputs, and results of earlier programs.
        memory_of: value of a variable at the start of the run -> its memory.
    """

    slot_of: dict[Value, int]
    memory_of: dict[Value, Stored]

    def of_slot(self, slot: int) -> Value:
        """The value that a program reads for what is in a slot."""


class SlotInputs:
    """`Inputs` of a run that is done: a slot has the type of the array in it.

    Args:
        slots: the feeds, and the results so far; steps append theirs.
    """

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self.slot_of: dict[Value, int] = {}
        self.memory_of: dict[Value, Stored] = {}
        self._of_slot: dict[int, Input] = {}

    def of_slot(self, slot: int) -> Value:
        """The value that a program reads for what is in a slot."""
        value = self._of_slot.get(slot)
        if value is None:
            value = self._of_slot[slot] = Input(type_of(self._slots[slot]), None, "", "")
            self.slot_of[value] = slot
        return value


def inputs_of(values: Sequence[Value]) -> list[Value]:
    """The inputs that values depend on, in the order in which they are read."""
    inputs = {v: None for n in producers(values) for v in n.inputs if v.node is None}
    inputs.update({v: None for v in values if v.node is None})
    return list(inputs)
