"""Checkmate's integer program as its paper has it, for graphs of some dozen steps.

Jain et al. 2020 (https://arxiv.org/abs/1910.02653), equations 1 to 9: n stages, of which stage t
ends with the first run of step t.
"""

from __future__ import annotations

from typing import Any, Optional

from byparts_memplan.steps import Steps


class Stages:
    """In stage t: which steps run, what is there from before, and what is let go after which step.

    Each step writes one storage, and inputs take no bytes.  O(steps * reads) variables.
    """

    def __init__(self, cp: Any, steps: Steps, budget_bytes: int) -> None:
        self.cp, self.model, self.steps = cp, cp.CpModel(), steps
        n = self.n = len(steps.nodes)
        self.size = [sum(steps.size[w] for w in written) for written in steps.writes]
        self.reads = [{steps.writer[v] for v in r if v in steps.writer} for r in steps.reads]
        self.users = [[k for k in range(n) if i in self.reads[k]] for i in range(n)]
        new = self.model.new_bool_var
        self.runs = [[new(f"run {i} in {t}") for i in range(t + 1)] for t in range(n)]
        self.stays = [[new(f"{i} stays for {t}") for i in range(min(t, n))] for t in range(n + 1)]
        for t in range(n):
            self._stage(t, budget_bytes)
        for v in steps.kept & steps.writer.keys():
            self.model.add(self.stays[n][steps.writer[v]] == 1)
        extra = [steps.cost[i] * run for t in range(n) for i, run in enumerate(self.runs[t][:t])]
        self.model.minimize(sum(extra))

    def least_extra_cost(self) -> Optional[float]:
        """Of all schedules; `None` where none fits.  Exponential."""
        solver = self.cp.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.catch_sigint_signal = False
        status = solver.solve(self.model)
        assert status in (self.cp.OPTIMAL, self.cp.INFEASIBLE), "there is no limit of time"
        return solver.objective_value if status == self.cp.OPTIMAL else None

    def _stage(self, t: int, budget_bytes: int) -> None:
        model, runs, stays = self.model, self.runs[t], self.stays[t]
        model.add(runs[t] == 1)
        there = [runs[i] + stays[i] if i < t else runs[i] for i in range(t + 1)]
        for i, again in enumerate(runs[:t]):
            if not self.steps.again[i]:
                model.add(again == 0)
        for k, run in enumerate(runs):
            for i in self.reads[k]:
                model.add(run <= there[i])
        for i, stay in enumerate(self.stays[t + 1]):
            model.add(stay <= there[i])
        alive = sum(size * stay for size, stay in zip(self.size, stays, strict=False))
        for k, run in enumerate(runs):
            alive += self.size[k] * run
            model.add(alive <= budget_bytes)
            alive -= sum(self.size[i] * self._free(t, i, k) for i in {*self.reads[k], k})

    def _free(self, t: int, i: int, k: int) -> Any:
        """Step k has run, nobody reads what i wrote later in the stage, and it does not stay."""
        model, runs = self.model, self.runs[t]
        free = model.new_bool_var(f"{i} free after {k} in {t}")
        stay = self.stays[t + 1][i : i + 1]
        against = [*stay, *(runs[j] for j in self.users[i] if k < j <= t)]
        model.add_implication(free, runs[k])
        for one in against:
            model.add_implication(free, ~one)
        return free
