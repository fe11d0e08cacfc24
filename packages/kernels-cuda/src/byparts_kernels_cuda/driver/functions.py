"""The functions of the driver API that this part calls, with the types of their arguments.

Of some 500 functions these 50 are enough, so ctypes does and nothing needs to be installed.  The
names are those of the library: `cuda.h` maps `cuMemAlloc` to `cuMemAlloc_v2` and the like.
"""

from __future__ import annotations

from ctypes import POINTER, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any

Handle = c_void_p  # of a context, a stream, an event, a graph, a module, a function
Address = c_uint64  # of the GPU: `CUdeviceptr`

_INT, _SIZE, _HANDLE, _ADDRESS = map(POINTER, (c_int, c_size_t, Handle, Address))

FUNCTIONS: dict[str, tuple[Any, ...]] = {
    # -- the driver and its devices --
    "cuInit": (c_uint,),
    "cuDriverGetVersion": (_INT,),
    "cuGetErrorName": (c_int, POINTER(c_char_p)),
    "cuGetErrorString": (c_int, POINTER(c_char_p)),
    "cuDeviceGetCount": (_INT,),
    "cuDeviceGet": (_INT, c_int),
    "cuDeviceGetName": (c_void_p, c_int, c_int),
    "cuDeviceGetAttribute": (_INT, c_int, c_int),
    # -- the context that a thread calls in --
    "cuDevicePrimaryCtxRetain": (_HANDLE, c_int),
    "cuDevicePrimaryCtxRelease_v2": (c_int,),
    "cuCtxPushCurrent_v2": (Handle,),
    "cuCtxPopCurrent_v2": (_HANDLE,),
    "cuCtxGetCurrent": (_HANDLE,),
    "cuCtxSynchronize": (),
    # -- memory --
    "cuMemGetInfo_v2": (_SIZE, _SIZE),
    "cuMemAlloc_v2": (_ADDRESS, c_size_t),
    "cuMemFree_v2": (Address,),
    "cuMemHostAlloc": (_HANDLE, c_size_t, c_uint),
    "cuMemFreeHost": (c_void_p,),
    "cuMemcpyHtoDAsync_v2": (Address, c_void_p, c_size_t, Handle),
    "cuMemcpyDtoHAsync_v2": (c_void_p, Address, c_size_t, Handle),
    "cuMemcpyDtoDAsync_v2": (Address, Address, c_size_t, Handle),
    "cuMemsetD8Async": (Address, c_uint, c_size_t, Handle),
    # -- streams, events, graphs --
    "cuStreamCreate": (_HANDLE, c_uint),
    "cuStreamDestroy_v2": (Handle,),
    "cuStreamSynchronize": (Handle,),
    "cuStreamWaitEvent": (Handle, Handle, c_uint),
    "cuStreamBeginCapture_v2": (Handle, c_int),
    "cuStreamEndCapture": (Handle, _HANDLE),
    "cuEventCreate": (_HANDLE, c_uint),
    "cuEventDestroy_v2": (Handle,),
    "cuEventRecord": (Handle, Handle),
    "cuEventSynchronize": (Handle,),
    "cuEventElapsedTime": (POINTER(c_float), Handle, Handle),
    "cuGraphInstantiateWithFlags": (_HANDLE, Handle, c_uint64),
    "cuGraphDestroy": (Handle,),
    "cuGraphExecDestroy": (Handle,),
    "cuGraphLaunch": (Handle, Handle),
    # -- code --
    "cuModuleLoadData": (_HANDLE, c_void_p),
    "cuModuleUnload": (Handle,),
    "cuModuleGetFunction": (_HANDLE, Handle, c_char_p),
    "cuFuncSetAttribute": (Handle, c_int, c_int),
    # function, grid x y z, block x y z, bytes of shared memory, stream, arguments, nothing
    "cuLaunchKernel": (Handle, *[c_uint] * 7, Handle, POINTER(c_void_p), c_void_p),
}

# Attributes of a device, as `cuda.h` numbers them.
MAX_THREADS_PER_BLOCK, MAX_SHARED_BYTES, MAX_SHARED_BYTES_OPTIN = 1, 8, 97
MULTIPROCESSORS, CAPABILITY_MAJOR, CAPABILITY_MINOR = 16, 75, 76
MAX_DYNAMIC_SHARED_BYTES = 8  # attribute of a function

STREAM_DEFAULT, STREAM_NON_BLOCKING = 0, 1  # the first waits for the stream 0 of torch, and it
EVENT_TIMING, EVENT_WITHOUT_TIMING = 0, 2
CAPTURE_THREAD_LOCAL = 1  # what other threads call meanwhile is their own business
HOST_PORTABLE = 1  # pinned memory that all contexts know
ALIGNMENT = 32  # bytes, of each array that a kernel takes: matrix units load so, vectors take 16
