"""The C that checked kernels call: each element of memory knows who touched it last.

Two accesses of one element are ordered if one thread makes both, or if they are in one block with a
barrier between.  Two that are not, one of which writes, are a race; also if both happen to give the
right numbers.  Of each element it is known who wrote it last, two threads that have read it since
the last barrier, and one of an earlier block: more are not needed to find a race, for the first
fault ends the launch.  Parameters that overlap in memory share their elements.
"""

from __future__ import annotations

FAULT_WORDS = 20  # 64-bit: kind, buffer, two accesses of five words, rank, index
FAULT_BYTES = 8 * FAULT_WORDS
HOLDERS = 8  # ways in which a warp touches memory, each known by a number of its own
MOST_INDICES = FAULT_WORDS - 13

CHECKS = (
    """#include <setjmp.h>
enum { READ, WRITE };
enum { GLOBAL, SHARED, LOCAL };
enum { NO_FAULT, RACE, OUTSIDE, UNWRITTEN, DIVERGENT, MISALIGNED, APART_PLACES, IN_COPY };
typedef struct { uint32_t epoch; uint16_t thread, place; } Access;  // epoch 0: none
// Of an element: two readers since the last barrier, a reader of an earlier block, the last writer.
// How many copies into it, and from it, are under way.
typedef struct { Access reader, other, old_reader, writer; int32_t arriving, leaving; } Cell;
typedef struct {
  const void *base;
  const int64_t *shape;
  int64_t rank, elements, item;
  int scope, written;
  Cell *cells, *owned;
  int64_t cells_each;
} Region;
typedef struct {
  Region *regions;
  int64_t count, blocks, block;
  uint32_t epoch, start, *starts;  // epochs: now, at the beginning of this block, of each block
  int64_t *fault;
  jmp_buf stop;
} Checker;
#define APART static __attribute__((noinline, unused))

// Regions of parameters that overlap share cells, each of the bytes of the smallest element.
APART void share_cells(Region *r, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (r[i].cells || r[i].scope != GLOBAL) continue;
    uintptr_t low = (uintptr_t)r[i].base, high = low + r[i].elements * r[i].item;
    int64_t unit = 8;
    int written = 0;
    for (int more = 1; more;) {
      more = 0;
      for (int64_t j = 0; j < n; ++j) {
        uintptr_t at = (uintptr_t)r[j].base, end = at + r[j].elements * r[j].item;
        if (r[j].scope != GLOBAL || at >= high || end <= low) continue;
        if (at < low || end > high) more = 1;
        low = at < low ? at : low, high = end > high ? end : high;
        unit = r[j].item < unit ? r[j].item : unit, written |= r[j].written;
      }
    }
    if (!written || low == high) continue;  // what is only read needs no cells
    Cell *cells = r[i].owned = (Cell *)__builtin_calloc((high - low) / unit + 1, sizeof(Cell));
    for (int64_t j = 0; j < n; ++j) {
      uintptr_t at = (uintptr_t)r[j].base;
      if (r[j].scope != GLOBAL || at >= high || at + r[j].elements * r[j].item <= low) continue;
      r[j].cells = cells + (at - low) / unit, r[j].cells_each = r[j].item / unit;
    }
  }
}
APART void begin_checks(Checker *c, Region *r, int64_t n, int64_t blocks, void **a) {
  int64_t params = 0;
  for (int64_t i = 0; i < n; ++i) {
    params += r[i].scope == GLOBAL;
    r[i].cells = r[i].owned = 0, r[i].cells_each = 1;
    if (r[i].scope == SHARED)
      r[i].cells = r[i].owned = (Cell *)__builtin_calloc(r[i].elements + 1, sizeof(Cell));
  }
  share_cells(r, n);
  c->regions = r, c->count = n, c->blocks = blocks, c->epoch = c->start = 0;
  c->starts = (uint32_t *)__builtin_calloc(blocks + 1, sizeof(uint32_t));
  c->fault = (int64_t *)a[params];
}
APART void end_checks(Checker *c) {
  for (int64_t i = 0; i < c->count; ++i) __builtin_free(c->regions[i].owned);
  __builtin_free(c->starts);
}
APART void begin_block(Checker *c, int64_t block) {
  c->start = ++c->epoch, c->starts[block] = c->start, c->block = block;
}
APART int64_t block_of(Checker *c, uint32_t epoch) {
  int64_t block = c->block;
  while (c->starts[block] > epoch) --block;
  return block;
}
APART void fail(Checker *c, int kind, const Region *r, const int64_t *index, Access first,
                int first_kind, Access second, int second_kind) {
  int64_t *f = c->fault;
  f[0] = kind, f[1] = r ? r - c->regions : -1;
  f[2] = block_of(c, first.epoch), f[3] = first.thread, f[4] = first.place, f[5] = first_kind;
  f[6] = second.epoch != 0, f[7] = block_of(c, second.epoch ? second.epoch : c->epoch);
  f[8] = second.thread, f[9] = second.place, f[10] = second_kind;
  f[11] = r ? r->rank : 0;
"""
    f"  for (int64_t d = 0; r && d < r->rank && d < {MOST_INDICES}; ++d) f[12 + d] = index[d];\n"
    """  longjmp(c->stop, 1);
}
// Whether an access is not ordered with this one of a thread.
INLINE int clashes(const Checker *c, const Region *r, Access a, int thread) {
  if (!a.epoch) return 0;
  return a.epoch < c->start ? r->scope == GLOBAL : a.epoch == c->epoch && a.thread != thread;
}
APART void note(Checker *c, const Region *r, const int64_t *index, Cell *cell, int kind,
                Access me) {
  const Access none = {};
  if (cell->arriving) fail(c, IN_COPY, r, index, cell->writer, WRITE, me, kind);
  if (cell->leaving && kind == WRITE) fail(c, IN_COPY, r, index, cell->reader, READ, me, kind);
  if (clashes(c, r, cell->writer, me.thread))
    fail(c, RACE, r, index, cell->writer, WRITE, me, kind);
  if (kind == READ) {
    if (r->scope == SHARED && cell->writer.epoch < c->start)
      fail(c, UNWRITTEN, r, index, me, READ, none, 0);
    if (cell->reader.epoch < c->start) cell->old_reader = cell->reader;
    if (cell->reader.epoch != c->epoch) cell->reader = me, cell->other = none;
    else if (cell->reader.thread != me.thread) cell->other = me;
    return;
  }
  const Access readers[] = {cell->reader, cell->other, cell->old_reader};
  for (int i = 0; i < 3; ++i)
    if (clashes(c, r, readers[i], me.thread)) fail(c, RACE, r, index, readers[i], READ, me, kind);
  cell->writer = me;
}
// Check an access; the position of the element.
APART int64_t touch(Checker *c, const Region *r, const int64_t *index, int kind, int64_t thread,
                    int place) {
  const Access me = {c->epoch, (uint16_t)thread, (uint16_t)place}, none = {};
  int64_t flat = 0;
  for (int64_t d = 0; d < r->rank; ++d) {
    if ((uint64_t)index[d] >= (uint64_t)r->shape[d])
      fail(c, OUTSIDE, r, index, me, kind, none, 0);
    flat = flat * r->shape[d] + index[d];
  }
  if (r->cells)
    for (int64_t i = 0; i < r->cells_each; ++i)
      note(c, r, index, r->cells + flat * r->cells_each + i, kind, me);
  return flat;
}
// A wide access of so many elements begins here.
APART void aligned(Checker *c, const Region *r, const int64_t *index, int width, int64_t thread,
                   int place) {
  const Access me = {c->epoch, (uint16_t)thread, (uint16_t)place}, none = {};
  int64_t flat = 0;
  for (int64_t d = 0; d < r->rank; ++d) flat = flat * r->shape[d] + index[d];
  if (((uintptr_t)r->base + flat * r->item) % (width * r->item))
    fail(c, MISALIGNED, r, index, me, READ, none, 0);
}
// Mark the elements of a copy as under way, or not any more.
INLINE void mark(Checker *c, const Copy *copy, int by) {
  const Region *to = c->regions + copy->to_region, *from = c->regions + copy->from_region;
  for (int64_t k = 0; to->cells && k < copy->count * to->cells_each; ++k)
    to->cells[copy->to_flat * to->cells_each + k].arriving += by;
  for (int64_t k = 0; from->cells && k < copy->count * from->cells_each; ++k)
    from->cells[copy->from_flat * from->cells_each + k].leaving += by;
}
INLINE void touch_row(Checker *c, const Region *r, int64_t flat, int64_t count, int kind,
                      int64_t thread, int place) {
  for (int64_t k = 0; k < count; ++k) {
    int64_t index[16], rest = flat + k;
    for (int64_t d = r->rank - 1; d >= 0; --d) index[d] = rest % r->shape[d], rest /= r->shape[d];
    touch(c, r, index, kind, thread, place);
  }
}
// A copy begins, and arrives at once: its target is written now and when the thread has waited, its
// source is read all the time.
APART void begin_copy(Checker *c, Queue *q, const Region *to, const int64_t *to_at,
                      const Region *from, const int64_t *from_at, int64_t count, int64_t thread,
                      int place) {
  Copy copy = {0, 0, count * to->item, 0, to - c->regions, from - c->regions, 0, 0, count};
  for (int side = 0; side < 2; ++side) {
    const Region *r = side ? from : to;
    const int64_t *at = side ? from_at : to_at;
    aligned(c, r, at, count, thread, place);
    int64_t last[16];
    for (int64_t d = 0; d < r->rank; ++d) last[d] = at[d];
    for (int64_t k = 0; k < count; ++k, ++last[r->rank - 1]) {
      int64_t flat = touch(c, r, last, side ? READ : WRITE, thread, place);
      if (!k) (side ? copy.from_flat : copy.to_flat) = flat;
    }
  }
  copy.to = (char *)to->base + copy.to_flat * to->item;
  copy.from = (const char *)from->base + copy.from_flat * to->item;
  memcpy(copy.to, copy.from, copy.bytes);
  mark(c, &copy, 1);
  push_copy(q, copy);
}
APART void end_copies(Checker *c, Queue *q, int64_t pending, int64_t thread, int place) {
  int64_t kept = 0;
  for (int64_t i = 0; i < q->count; ++i) {
    const Copy copy = q->items[i];
    if (copy.group >= q->group - pending) {
      q->items[kept++] = copy;
      continue;
    }
    mark(c, &copy, -1);
    touch_row(c, c->regions + copy.to_region, copy.to_flat, copy.count, WRITE, thread, place);
    touch_row(c, c->regions + copy.from_region, copy.from_flat, copy.count, READ, thread, place);
  }
  q->count = kept;
}
// What a block has not waited for.
APART void forget_copies(Checker *c, Queue *q, int64_t threads) {
  for (int64_t t = 0; t < threads; ++t)
    for (int64_t i = 0; i < q[t].count; ++i) mark(c, q[t].items + i, -1);
}
// All threads of each group (a warp, or the block) must be there, or none.
APART void agree(Checker *c, const char *on, int64_t size, int64_t group, int place) {
  for (int64_t t = 0; t < size; ++t) {
    int64_t first = t - t % group;
    if (on[t] == on[first]) continue;
    const Access here = {c->epoch, (uint16_t)(on[t] ? t : first), (uint16_t)place};
    const Access not_here = {c->epoch, (uint16_t)(on[t] ? first : t), (uint16_t)place};
    fail(c, DIVERGENT, 0, 0, here, READ, not_here, READ);
  }
}
// The threads of a warp do something at one place: their rows of an array are the same.
APART void same_places(Checker *c, const int64_t *at, int64_t rank, int64_t size, const char *on,
                       int place) {
  for (int64_t t = 0; t < size; ++t) {
    const int64_t first = t - t % 32;
    if (on && !on[t]) continue;
    for (int64_t d = 0; d < rank; ++d) {
      if (at[t * rank + d] == at[first * rank + d]) continue;
      const Access one = {c->epoch, (uint16_t)first, (uint16_t)place};
      const Access other = {c->epoch, (uint16_t)t, (uint16_t)place};
      fail(c, APART_PLACES, 0, 0, one, READ, other, READ);
    }
  }
}
"""
)
