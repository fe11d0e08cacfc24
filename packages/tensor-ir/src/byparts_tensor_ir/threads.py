"""The threads that share the rounds of parallel loops: one pool for the process, in C.

The caller computes too.  Rounds are taken in pieces, whoever is free takes the next one, so a
thread that comes late or is disturbed holds nobody up.  Each round is computed as it would be on
one thread: the number of threads does not change a bit of any result.

Workers sleep when there is nothing to do, after 20 microseconds of looking for it, so they take no
time from the threads of OpenBLAS or torch.  They receive no signals.  A forked child starts workers
of its own.  A parallel loop inside of a parallel loop, or while another thread of the program runs
one, is done by its caller alone.
"""

from __future__ import annotations

import ctypes
import os
from typing import Optional

# `byparts_run` does the rounds from low to end: `part(data, first, one past the last)`.
POOL = r"""#include <pthread.h>
#include <signal.h>
#include <time.h>
typedef void (*Part)(void *, int64_t, int64_t);
static pthread_mutex_t caller, lock;  // one loop at a time; what follows
static pthread_cond_t wake, finished;
static int workers, started;  // how many may work, and how many there are
static Part part;
static void *data;
static int64_t next, end, step;
static int loops, open, active, sleeping;  // loops so far; may one begin, how many do
static unsigned mode;  // of arithmetic: the caller's
static __thread int inside;

static void reset() {
  pthread_mutex_init(&caller, 0), pthread_mutex_init(&lock, 0);
  pthread_cond_init(&wake, 0), pthread_cond_init(&finished, 0);
  started = open = active = sleeping = 0;
}
__attribute__((constructor)) static void begin() { reset(), pthread_atfork(0, 0, reset); }

static void work() {
  int64_t first;
  while ((first = __atomic_fetch_add(&next, step, __ATOMIC_RELAXED)) < end)
    part(data, first, least(first + step, end));
}
static int64_t microseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}
static void look_for_change(int *place, int value) {
  int64_t until = microseconds() + 20;
  for (int i = 0; __atomic_load_n(place, __ATOMIC_ACQUIRE) == value; ++i) {
    if (i % 64 == 63 && microseconds() > until) return;
#if defined(__x86_64__)
    _mm_pause();
#endif
  }
}
static void *worker(void *number) {
  int seen = 0;
  inside = 1;
  for (;;) {
    look_for_change(&loops, seen);
    pthread_mutex_lock(&lock);
    for (++sleeping; loops == seen;) pthread_cond_wait(&wake, &lock);
    --sleeping;
    seen = loops;
    int mine = open && (int64_t)number < workers;
    active += mine;
    pthread_mutex_unlock(&lock);
    if (!mine) continue;
#if defined(__x86_64__)
    _mm_setcsr(mode);
#endif
    work();
    pthread_mutex_lock(&lock);
    if (!__atomic_sub_fetch(&active, 1, __ATOMIC_RELEASE)) pthread_cond_signal(&finished);
    pthread_mutex_unlock(&lock);
  }
}
static void start() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  while (started < workers && !pthread_create(&thread, 0, worker, (void *)(int64_t)started)) {
    pthread_detach(thread);
    ++started;
  }
  pthread_sigmask(SIG_SETMASK, &before, 0);
}
extern "C" void byparts_threads(int count) { __atomic_store_n(&workers, count - 1, 0); }
extern "C" void byparts_run(int64_t low, int64_t high, Part f, void *argument) {
  if (inside || workers < 1 || high - low < 2 || pthread_mutex_trylock(&caller))
    return f(argument, low, high);
  if (started < workers) start();
  pthread_mutex_lock(&lock);
  part = f, data = argument, next = low, end = high;
  step = (high - low + 4 * workers + 3) / (4 * workers + 4);
#if defined(__x86_64__)
  mode = _mm_getcsr();
#endif
  open = 1;
  __atomic_add_fetch(&loops, 1, __ATOMIC_RELEASE);
  if (sleeping) pthread_cond_broadcast(&wake);
  pthread_mutex_unlock(&lock);
  inside = 1;
  work();
  inside = 0;
  pthread_mutex_lock(&lock);
  open = 0;
  pthread_mutex_unlock(&lock);
  for (int now; (now = __atomic_load_n(&active, __ATOMIC_ACQUIRE));) {
    look_for_change(&active, now);
    pthread_mutex_lock(&lock);
    if (active == now) pthread_cond_wait(&finished, &lock);
    pthread_mutex_unlock(&lock);
  }
  pthread_mutex_unlock(&caller);
}
"""

_told: Optional[int] = None
_pools: list[ctypes.CDLL] = []


def threads() -> int:
    """The number of threads that share a parallel loop.

    Set by `set_threads`, else by the environment variable `OMP_NUM_THREADS`, else one for each
    processor that this process may use.
    """
    if _told is not None:
        return _told
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if first.isdecimal() and int(first):
        return int(first)
    return processors()


def processors() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def set_threads(count: int) -> None:
    """From now on so many threads share each parallel loop of this process, its caller included.

    Raises:
        ValueError: it is less than 1.
    """
    global _told
    if count < 1:
        raise ValueError(f"set_threads({count}): at least one thread computes")
    _told = count
    for pool in _pools:
        pool.byparts_threads(count)


def runner(pool: ctypes.CDLL) -> int:
    """The address of `byparts_run` of the compiled pool."""
    pool.byparts_threads(threads())
    _pools.append(pool)
    return ctypes.cast(pool.byparts_run, ctypes.c_void_p).value or 0
