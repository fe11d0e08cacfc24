"""What was found, as Markdown: the machine, the kernels, times and memory, what went wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

Rows = Sequence[dict[str, Any]]

_PEERS = {  # as they are asked for -> as they are called here
    **{"eager": "eager", "default": "compile", "reduce-overhead": "compile, graphs"},
    **{"ours": "torch kernels", "ours, replayed": "replayed"},
    **{"generated": "generated", "generated, replayed": "generated, replayed", "jax": "JAX"},
}
_HEAD = (
    *("work", "precision", *_PEERS.values()),
    *("eager / ours", "compile / ours", "peak MB eager, compile, ours", "loss differs by"),
)


def report(found: Rows) -> str:
    """All of it."""
    parts = (
        *(_machine(found), _kernels(found), _bandwidth(found), _products(found)),
        *(_times(found), _troubles(found)),
    )
    return "\n\n".join("\n".join(part) for part in map(list, parts) if part)


def _machine(found: Rows) -> Iterator[str]:
    for row in found:
        if "python" in row:
            yield ", ".join(f"{name} {value}" for name, value in row.items())


def _kernels(found: Rows) -> Iterator[str]:
    kept = [row for row in found if "op" in row]
    for name in dict.fromkeys(row["backend"] for row in kept):
        rows = [row for row in kept if row["backend"] == name]
        cases: Counter[str] = sum((Counter(row["said"]) for row in rows), Counter())
        counts = ", ".join(f"{n} {what}" for what, n in sorted(cases.items()))
        wrong = [row for row in rows if "FAIL" in row["said"]]
        right = f"{len(rows) - len(wrong)} of {len(rows)} ops right"
        yield f"Kernels of {name}: {right}; cases: {counts}."
        yield from (f"- {row['op']}: {why}" for row in wrong for why in row["wrong"])


def _bandwidth(found: Rows) -> Iterator[str]:
    rows = [row for row in found if "gb_s" in row]
    if rows:
        yield _line(("what moves data", "GB/s", "of the copy"))
        yield _line(["---"] * 3)
    for row in rows:
        yield _line((row["bandwidth"], f"{row['gb_s']:.4g}", f"{row['of_copy']:.2f}"))


def _products(found: Rows) -> Iterator[str]:
    rows = [row for row in found if "product" in row]
    if rows:
        yield _line(("product", "TFLOP/s, ours", "cuBLASLt", "ours / cuBLASLt"))
        yield _line(["---"] * 4)
    for row in rows:
        ours, theirs = row.get("ours"), row.get("cublaslt")
        share = f"{ours / theirs:.2f}" if ours and theirs else ""
        cells = ["" if x is None else f"{x:.4g}" for x in (ours, theirs)]
        yield _line((row["product"], *cells, share))


def _times(found: Rows) -> Iterator[str]:
    rows = [row for row in found if "peer" in row and "ms" in row]
    keys = dict.fromkeys((row["workload"], row["precision"]) for row in rows)
    if not keys:
        return
    yield "Milliseconds a step, the best of five."
    yield ""
    yield _line(_HEAD)
    yield _line(["---"] * len(_HEAD))
    for work, precision in keys:
        peers = {
            row["peer"]: row
            for row in rows
            if (row["workload"], row["precision"]) == (work, precision)
        }
        yield _line([work, precision, *_cells(peers)])


def _cells(peers: dict[str, dict[str, Any]]) -> Iterator[str]:
    names = tuple(_PEERS)
    yield from (f"{peers[name]['ms']:.4g}" if name in peers else "" for name in names)
    ours = _least(peers, names[3:7], "ms")
    for theirs in (_least(peers, names[:1], "ms"), _least(peers, names[1:3], "ms")):
        yield f"{theirs / ours:.2f}" if theirs and ours else ""
    groups = (names[:1], names[1:3], names[3:7])
    peaks = [_least(peers, group, "peak_mb") for group in groups]
    yield ", ".join("" if peak is None else f"{peak:.1f}" for peak in peaks) if any(peaks) else ""
    yield _difference(peers)


def _least(peers: dict[str, dict[str, Any]], names: Sequence[str], what: str) -> float | None:
    known = [peers[name][what] for name in names if name in peers]
    return min((value for value in known if value is not None), default=None)


def _difference(peers: dict[str, dict[str, Any]]) -> str:
    """Of the losses after ten steps: of ours from eager."""
    if "eager" not in peers:
        return ""
    want = peers["eager"]["loss"]
    ours = [row for name, row in peers.items() if name.startswith(("ours", "generated"))]
    off = [abs(row["loss"] - want) for row in ours]
    return f"{max(off) / max(abs(want), 1e-9):.1g}" if off else ""


def _troubles(found: Rows) -> Iterator[str]:
    for row in found:
        if "failed" in row:
            yield f"- {row['section']}: {row['failed']}"
        if "bandwidth" in row and "error" in row:
            yield f"- {row['bandwidth']}: {row['error']}"
        elif "error" in row:
            yield f"- {row['workload']} {row['precision']} {row['peer']}: {row['error']}"
        for who in ("ours", "cublaslt"):
            if f"{who}_error" in row:
                yield f"- {row['product']}, {who}: {row[f'{who}_error']}"
        if "not captured" in str(row.get("said")):
            yield f"- {row['workload']} {row['precision']} {row['peer']}: {row['said']}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
