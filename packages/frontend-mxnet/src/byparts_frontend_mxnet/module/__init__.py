"""`mx.mod`: modules, which train a symbol on batches."""

from byparts_frontend_mxnet.module.base import BaseModule as BaseModule
from byparts_frontend_mxnet.module.bucketing import (
    BucketingModule as BucketingModule,
    SequentialModule as SequentialModule,
)
from byparts_frontend_mxnet.module.module import Module as Module
from byparts_frontend_mxnet.module.python_module import PythonLossModule as PythonLossModule
