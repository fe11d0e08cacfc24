"""FarmHash's Fingerprint64 and SipHash-2-4: the numbers that TensorFlow puts strings in buckets by.

Sources: google/farmhash, `farmhash.cc`, namespace `farmhashna` (what Fingerprint64 is, whatever the
machine); Aumasson and Bernstein 2012, "SipHash: a fast short-input PRF".
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache

_ALL = (1 << 64) - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F

Pair = tuple[int, int]


def _word(s: bytes, at: int) -> int:
    return int.from_bytes(s[at : at + 8], "little")


def _half(s: bytes, at: int) -> int:
    return int.from_bytes(s[at : at + 4], "little")


def _turn(x: int, by: int) -> int:
    """The 64 bits turned right."""
    return (x >> by) | (x << (64 - by) & _ALL)


def _mixed(x: int) -> int:
    return x ^ (x >> 47)


def _hash_16(u: int, v: int, multiplier: int) -> int:
    a = _mixed((u ^ v) * multiplier & _ALL)
    return _mixed((v ^ a) * multiplier & _ALL) * multiplier & _ALL


@lru_cache(1 << 14)
def fingerprint64(s: bytes) -> int:
    """FarmHash's fingerprint of bytes, in [0, 2**64)."""
    n = len(s)
    if n <= 16:
        return _to_16(s, n)
    if n <= 32:
        return _to_32(s, n)
    return _to_64(s, n) if n <= 64 else _long(s, n)


def _to_16(s: bytes, n: int) -> int:
    if n >= 8:
        by = _K2 + n * 2 & _ALL
        a, b = _word(s, 0) + _K2 & _ALL, _word(s, n - 8)
        c = _turn(b, 37) * by + a & _ALL
        d = (_turn(a, 25) + b) * by & _ALL
        return _hash_16(c, d, by)
    if n >= 4:
        return _hash_16(n + (_half(s, 0) << 3) & _ALL, _half(s, n - 4), _K2 + n * 2 & _ALL)
    if n > 0:
        y, z = s[0] + (s[n >> 1] << 8), n + (s[n - 1] << 2)
        return _mixed((y * _K2 & _ALL) ^ (z * _K0 & _ALL)) * _K2 & _ALL
    return _K2


def _to_32(s: bytes, n: int) -> int:
    by = _K2 + n * 2 & _ALL
    a, b = _word(s, 0) * _K1 & _ALL, _word(s, 8)
    c, d = _word(s, n - 8) * by & _ALL, _word(s, n - 16) * _K2 & _ALL
    return _hash_16(
        _turn(a + b & _ALL, 43) + _turn(c, 30) + d & _ALL,
        a + _turn(b + _K2 & _ALL, 18) + c & _ALL,
        by,
    )


def _to_64(s: bytes, n: int) -> int:
    by = _K2 + n * 2 & _ALL
    a, b = _word(s, 0) * _K2 & _ALL, _word(s, 8)
    c, d = _word(s, n - 8) * by & _ALL, _word(s, n - 16) * _K2 & _ALL
    y = _turn(a + b & _ALL, 43) + _turn(c, 30) + d & _ALL
    z = _hash_16(y, a + _turn(b + _K2 & _ALL, 18) + c & _ALL, by)
    e, f = _word(s, 16) * by & _ALL, _word(s, 24)
    g, h = (y + _word(s, n - 32)) * by & _ALL, (z + _word(s, n - 24)) * by & _ALL
    return _hash_16(
        _turn(e + f & _ALL, 43) + _turn(g, 30) + h & _ALL,
        e + _turn(f + a & _ALL, 18) + g & _ALL,
        by,
    )


def _weak(s: bytes, at: int, a: int, b: int) -> Pair:
    """32 bytes from `at` on, with two seeds."""
    w, x, y, z = struct.unpack_from("<4Q", s, at)
    a = a + w & _ALL
    b = _turn(b + a + z & _ALL, 21)
    c = a
    a = a + x + y & _ALL
    b = b + _turn(a, 44) & _ALL
    return a + z & _ALL, b + c & _ALL


def _long(s: bytes, n: int) -> int:
    seed = 81
    x, y = seed, seed * _K1 + 113 & _ALL
    z = _mixed(y * _K2 + 113 & _ALL) * _K2 & _ALL
    v, w = (0, 0), (0, 0)
    x = x * _K2 + _word(s, 0) & _ALL
    end = (n - 1) // 64 * 64
    for at in range(0, end, 64):
        x = _turn(x + y + v[0] + _word(s, at + 8) & _ALL, 37) * _K1 & _ALL
        y = _turn(y + v[1] + _word(s, at + 48) & _ALL, 42) * _K1 & _ALL
        x ^= w[1]
        y = y + v[0] + _word(s, at + 40) & _ALL
        z = _turn(z + w[0] & _ALL, 33) * _K1 & _ALL
        v = _weak(s, at, v[1] * _K1 & _ALL, x + w[0] & _ALL)
        w = _weak(s, at + 32, z + w[1] & _ALL, y + _word(s, at + 16) & _ALL)
        x, z = z, x
    by = _K1 + ((z & 0xFF) << 1) & _ALL
    at = n - 64
    w = (w[0] + (n - 1 & 63) & _ALL, w[1])
    v = (v[0] + w[0] & _ALL, v[1])
    w = (w[0] + v[0] & _ALL, w[1])
    x = _turn(x + y + v[0] + _word(s, at + 8) & _ALL, 37) * by & _ALL
    y = _turn(y + v[1] + _word(s, at + 48) & _ALL, 42) * by & _ALL
    x ^= w[1] * 9 & _ALL
    y = y + v[0] * 9 + _word(s, at + 40) & _ALL
    z = _turn(z + w[0] & _ALL, 33) * by & _ALL
    v = _weak(s, at, v[1] * by & _ALL, x + w[0] & _ALL)
    w = _weak(s, at + 32, z + w[1] & _ALL, y + _word(s, at + 16) & _ALL)
    x, z = z, x
    return _hash_16(
        _hash_16(v[0], w[0], by) + _mixed(y) * _K0 + z & _ALL,
        _hash_16(v[1], w[1], by) + x & _ALL,
        by,
    )


def sip_hash(key: Sequence[int], s: bytes) -> int:
    """SipHash-2-4 of bytes under a key of two words, in [0, 2**64)."""
    k0, k1 = (int(k) & _ALL for k in key)
    v = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    ]
    whole = len(s) // 8 * 8
    last = int.from_bytes(s[whole:], "little") | (len(s) & 0xFF) << 56
    for m in [*(_word(s, at) for at in range(0, whole, 8)), last]:
        v[3] ^= m
        _round(v)
        _round(v)
        v[0] ^= m
    v[2] ^= 0xFF
    for _ in range(4):
        _round(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _round(v: list[int]) -> None:
    a, b, c, d = v
    a, c = a + b & _ALL, c + d & _ALL
    b, d = _turn(b, 51) ^ a, _turn(d, 48) ^ c
    a = _turn(a, 32)
    c, a = c + b & _ALL, a + d & _ALL
    b, d = _turn(b, 47) ^ c, _turn(d, 43) ^ a
    c = _turn(c, 32)
    v[:] = [a, b, c, d]


_MURMUR, _MURMUR_SEED = 0xC6A4A7935BD1E995, 0xDECAFCAFFE


def murmur64(s: bytes) -> int:
    """MurmurHash64A of bytes (Appleby), with TensorFlow's seed, in [0, 2**64)."""
    h = _MURMUR_SEED ^ (len(s) * _MURMUR & _ALL)
    whole = len(s) // 8 * 8
    for at in range(0, whole, 8):
        k = _word(s, at) * _MURMUR & _ALL
        k = _mixed(k) * _MURMUR & _ALL
        h = (h ^ k) * _MURMUR & _ALL
    if whole < len(s):
        h = (h ^ int.from_bytes(s[whole:], "little")) * _MURMUR & _ALL
    return _mixed(_mixed(h) * _MURMUR & _ALL)
