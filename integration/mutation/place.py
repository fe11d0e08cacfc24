"""A place of what a stage gives, and the stage that gives it changed there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

Change = Callable[[], Any]  # makes the changed thing
Rule = Callable[[Any], Iterator[tuple[str, Change]]]  # thing -> (words, change) of each place


@dataclass(frozen=True)
class Place:
    """One place of the output of a stage, while some programs are built.

    Attributes:
        stage: a name of `stages.STAGES`.
        rule: what is changed, a name of the stage's rules.
        batch: number of the programs.
        call: which output of the stage, counted from 0 while they are built.
        number: which place of this rule there.
        words: the change.
    """

    stage: str
    rule: str
    batch: int
    call: int
    number: int
    words: str

    def __str__(self) -> str:
        return f"{self.stage}: {self.rule}: {self.words} (batch {self.batch}, output {self.call})"


@dataclass(frozen=True)
class Stage:
    """A stage whose outputs are changed.

    Attributes:
        group: the row of the table.
        rules: name -> rule.
        hook: has each output of the stage go through a function, in this process.
        recompiles: whether code that was compiled before must be made again.
    """

    group: str
    rules: Mapping[str, Rule]
    hook: Callable[[Callable[[Any], Any]], None]
    recompiles: bool = False


@dataclass
class Recorder:
    """Notes each place of each output, and changes nothing."""

    rules: Mapping[str, Rule]
    places: list[tuple[str, int, int, str]] = field(default_factory=list)
    calls: int = 0

    def __call__(self, thing: Any) -> Any:
        for rule, places in self.rules.items():
            for number, (words, _) in enumerate(places(thing)):
                self.places.append((rule, self.calls, number, words))
        self.calls += 1
        return thing


@dataclass
class Changer:
    """Changes one place of one output."""

    rule: Rule
    place: Place
    calls: int = 0
    done: bool = False

    def __call__(self, thing: Any) -> Any:
        self.calls += 1
        if self.calls - 1 != self.place.call:
            return thing
        for number, (_, change) in enumerate(self.rule(thing)):
            if number == self.place.number:
                self.done = True
                return change()
        return thing


def change_parts(change: Callable[[Any], Any]) -> None:
    """Have each build take other parts than those that its options name, in this process."""
    building: Any = import_module("byparts_runtime.building.build")
    find = building.find_parts
    building.find_parts = lambda options: change(find(options))
