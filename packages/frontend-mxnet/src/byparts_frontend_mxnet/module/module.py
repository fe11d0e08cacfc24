"""`Module`: a symbol with parameters, bound to the shapes of batches."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Optional

from byparts_frontend_mxnet import initializer as init, kvstore as kv, optimizer as opt
from byparts_frontend_mxnet.binding import simple_bind
from byparts_frontend_mxnet.checkpoint import load_checkpoint, save_checkpoint
from byparts_frontend_mxnet.errors import MXNetError, unknown
from byparts_frontend_mxnet.executor import Executor
from byparts_frontend_mxnet.io import DataDesc
from byparts_frontend_mxnet.module.base import BaseModule

Arrays = dict[str, Any]


class Module(BaseModule):
    """A module of one symbol.

    Args:
        symbol: whose arguments are data, labels and parameters.
        data_names: arguments that the data of a batch are given to.
        label_names: likewise of labels; those that the symbol lacks are left out.
        logger: gets the lines of `fit`.
        context: a device or a list; one program computes the batch of all.
        fixed_param_names: parameters that are not trained.
        state_names: arguments that keep their values from batch to batch.
    """

    def __init__(
        self, symbol: Any, data_names: Optional[Sequence[str]] = ("data",),
        label_names: Optional[Sequence[str]] = ("softmax_label",), logger: Any = logging,
        context: Any = None, work_load_list: Any = None,
        fixed_param_names: Optional[Sequence[str]] = None,
        state_names: Optional[Sequence[str]] = None,
    ) -> None:  # fmt: skip
        super().__init__(logger)
        self._symbol, arguments = symbol, symbol.list_arguments()
        self._context = context[0] if isinstance(context, (list, tuple)) else context
        self.data_names = list(data_names or ())
        self.label_names = [n for n in label_names or () if n in arguments]
        self._fixed, self._states = list(fixed_param_names or ()), list(state_names or ())
        for name in (*self.data_names, *self._fixed, *self._states):
            if name not in arguments:
                raise unknown("the symbol of the module", name, arguments)
        inputs = (*self.data_names, *self.label_names, *self._states)
        self._param_names = [n for n in arguments if n not in inputs]
        self.data_shapes: list[DataDesc] = []
        self.label_shapes: Optional[list[DataDesc]] = None
        self._executors: dict[Any, Executor] = {}  # by shapes
        self._exec: Any = None
        self._optimizer: Any = None
        self._kvstore: Any = None
        self._updater: Any = None
        self._loaded: Any = None  # parameters of a checkpoint, until it is bound
        self._states_file: Optional[str] = None

    _label_shapes = property(lambda self: self.label_shapes)  # how programs of 2017 predict

    @property
    def _exec_group(self) -> SimpleNamespace:
        """The executor, and arrays as lists of one a device: programs of 2017 reach for them."""
        arrays, grads = self._exec.arg_dict, self._exec.grad_dict
        return SimpleNamespace(
            execs=[self._exec],
            param_names=self._param_names,
            param_arrays=[[arrays[n]] for n in self._param_names],
            grad_arrays=[[grads[n]] for n in self._param_names if grads[n] is not None],
        )

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs."""
        return self._symbol.list_outputs()  # type: ignore[no-any-return]

    @property
    def output_shapes(self) -> list[tuple[str, Any]]:
        """Names and shapes of the outputs."""
        self._need(bind=self.binded)
        return [(n, y.shape) for n, y in zip(self.output_names, self._exec.outputs, strict=True)]

    def bind(
        self, data_shapes: Any, label_shapes: Any = None, for_training: bool = True,
        inputs_need_grad: bool = False, force_rebind: bool = False,
        shared_module: Optional[Module] = None, grad_req: Any = "write",
    ) -> None:  # fmt: skip
        """Make ready for batches of these shapes.

        Args:
            data_shapes: pairs of name and shape, or `DataDesc`.
            label_shapes: likewise.
            for_training: whether there are gradients.
            inputs_need_grad: whether there are gradients of the data as well.
            force_rebind: bind anew; a module that is bound stays so without.
            shared_module: has the arrays of the parameters.
            grad_req: "write", "add" or "null".
        """
        if self.binded and not force_rebind:
            return
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        none = dict.fromkeys(self._symbol.list_arguments(), "null")
        trained = {n: grad_req for n in self._param_names if n not in self._fixed}
        data = dict.fromkeys(self.data_names, grad_req) if inputs_need_grad else {}
        self._reqs = {**none, **trained, **data} if for_training else none
        old = shared_module._exec if shared_module is not None else self._exec
        self._executors = {}
        self._reshape(data_shapes, label_shapes, old)
        self.binded = True
        if shared_module is not None:
            self.params_initialized = shared_module.params_initialized
        if self._loaded is not None:
            self.set_params(*self._loaded)
            self._loaded = None

    def _reshape(self, data_shapes: Any, label_shapes: Any, old: Any = None) -> None:
        """Take the executor for these shapes, or make one with the same parameters."""
        data, label = _described(data_shapes), _described(label_shapes or ())
        shapes = {d.name: d.shape for d in (*data, *label) if d.name in self._reqs}
        missing = [n for n in self.data_names if n not in shapes]
        if missing:
            raise MXNetError(
                f"bind: data_shapes has no {', '.join(missing)}; it has {[d.name for d in data]}"
            )
        key = tuple([shapes[n] for n in self.data_names])  # a batch may come without its labels
        known = self._executors.get(key)
        if known is None or any(known.arg_dict[n].shape != s for n, s in shapes.items()):
            dtypes = {d.name: d.dtype for d in (*data, *label) if d.name in self._reqs}
            how: Arrays = {"type_dict": dtypes, "shared_exec": old or self._exec, **shapes}
            self._executors[key] = simple_bind(self._symbol, self._context, self._reqs, **how)
        self._exec = self._executors[key]
        self.data_shapes, self.label_shapes = data, label or None

    def reshape(self, data_shapes: Any, label_shapes: Any = None) -> None:
        """Make ready for batches of other shapes."""
        self._need(bind=self.binded)
        self._reshape(data_shapes, label_shapes)

    def init_params(
        self, initializer: Any = None, arg_params: Optional[Arrays] = None,
        aux_params: Optional[Arrays] = None, allow_missing: bool = False, force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:  # fmt: skip
        """Give the parameters their first values.

        Args:
            initializer: of those that have no array; `Uniform(0.01)` where none are given.
            arg_params: arrays by name.
            aux_params: likewise.
            allow_missing: whether parameters may be missing there.
            force_init: whether parameters that have values get new ones.
            allow_extra: whether there may be arrays of other names.

        Raises:
            MXNetError: a parameter is missing, or an array has another shape or no parameter.
        """
        if self.params_initialized and not force_init:
            return
        self._need(bind=self.binded)
        if initializer is None and not (arg_params or aux_params):
            initializer = init.Uniform(0.01)
        attributes = self._symbol.attr_dict()
        own = {n: self._exec.arg_dict[n] for n in self._param_names}
        for mine, given in ((own, arg_params), (self._exec.aux_dict, aux_params)):
            extra = sorted(set(given or ()) - {*mine, *self._exec.arg_dict, *self._exec.aux_dict})
            if extra and not allow_extra:
                raise unknown("the module (allow_extra=True leaves it out; it)", extra[0], mine)
            for name, target in mine.items():
                if given is not None and name in given:
                    if given[name].shape != target.shape:
                        raise MXNetError(
                            f"{name} is {target.shape}, and was given {given[name].shape}"
                        )
                    given[name].copyto(target)
                elif given and not allow_missing:
                    raise MXNetError(
                        f"{name} is not among the parameters that were given ({', '.join(given)}); "
                        "allow_missing=True initializes it"
                    )
                elif initializer is not None:
                    initializer(init.InitDesc(name, attributes.get(name), initializer), target)
        self.params_initialized = True

    def get_params(self) -> tuple[Arrays, Arrays]:
        self._need(bind=self.binded, init_params=self.params_initialized)
        arg = {n: self._exec.arg_dict[n].copy() for n in self._param_names}
        return arg, {n: x.copy() for n, x in self._exec.aux_dict.items()}

    def init_optimizer(
        self, kvstore: Any = "local", optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),), force_init: bool = False,
    ) -> None:  # fmt: skip
        """Choose what changes the parameters.

        Args:
            kvstore: a store through which gradients and values go; names of local ones mean that
                there is one device, and so none.
            optimizer: its name or an optimizer; a name gets `rescale_grad` 1 / batch size.
            optimizer_params: pairs or a dict.
            force_init: whether another one takes the place of the one that there is.
        """
        self._need(bind=self.binded, init_params=self.params_initialized)
        if self.optimizer_initialized and not force_init:
            return
        if isinstance(optimizer, str):
            first = self.data_shapes[0]
            batch = first.shape[max(DataDesc.get_batch_axis(first.layout), 0)]
            how = {"rescale_grad": 1.0 / batch, **dict(optimizer_params)}
            names = dict(enumerate(self._param_names))
            optimizer = opt.create(optimizer, sym=self._symbol, param_idx2name=names, **how)
        self._optimizer, self._kvstore = optimizer, None
        self._updater = opt.get_updater(optimizer)
        if isinstance(kvstore, str):
            kv.create(kvstore)  # refuses names that there are not
        elif kvstore is not None:
            self._kvstore = kvstore
            for i, name in enumerate(self._param_names):
                kvstore.init(i, self._exec.arg_dict[name])
            kvstore.set_optimizer(optimizer)
        self.optimizer_initialized = True
        if self._states_file is not None:
            self.load_optimizer_states(self._states_file)
            self._states_file = None

    def borrow_optimizer(self, shared_module: Module) -> None:
        """Use the optimizer of another module, with its states."""
        other = shared_module
        self._optimizer, self._kvstore = other._optimizer, other._kvstore
        self._updater = other._updater
        self.optimizer_initialized = True

    def forward(self, data_batch: Any, is_train: Optional[bool] = None) -> None:
        self._need(bind=self.binded, init_params=self.params_initialized)
        names = _names(getattr(data_batch, "provide_data", None) or self.data_shapes)
        labels = self._labels(getattr(data_batch, "provide_label", None))
        if len(data_batch.data) != len(names):
            raise MXNetError(
                f"forward: the batch has {len(data_batch.data)} arrays of data; the module was "
                f"bound to {', '.join(names)}"
            )
        arrays = dict(zip(names, data_batch.data, strict=True))
        arrays |= dict(zip(labels, data_batch.label or (), strict=False))
        arrays = {n: x for n, x in arrays.items() if n in self._exec.arg_dict}
        now = {n: x.shape for n, x in arrays.items()}
        bound = {d.name: d.shape for d in (*self.data_shapes, *(self.label_shapes or ()))}
        if any(bound.get(n, s) != s for n, s in now.items()):
            parts = ([(n, now[n]) for n in part if n in now] for part in (names, labels))
            self._reshape(*parts)
        self._exec.forward(self.for_training if is_train is None else is_train, **arrays)

    def _labels(self, shapes: Any = None) -> list[str]:
        """The names of the labels of a batch, in its order."""
        return _names(shapes or self.label_shapes or ()) or self.label_names

    def backward(self, out_grads: Any = None) -> None:
        self._need(bind=self.binded, init_params=self.params_initialized)
        self._exec.backward(out_grads)

    def update(self) -> None:
        self._need(init_optimizer=self.optimizer_initialized)
        grads, arrays = self._exec.grad_dict, self._exec.arg_dict
        trained = [(i, n) for i, n in enumerate(self._param_names) if grads[n] is not None]
        if self._kvstore is None:
            self._exec.update(self._updater, trained)
            return
        for i, name in trained:  # what is pushed runs while others are pushed
            self._kvstore.push(i, grads[name], priority=-i)
        for i, name in trained:
            self._kvstore.pull(i, arrays[name], priority=-i)

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        self._need(bind=self.binded)
        outputs = list(self._exec.outputs)
        return outputs if merge_multi_context else [[y] for y in outputs]

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """The gradients by the data of the last batch."""
        self._need(bind_with_inputs_need_grad=self.inputs_need_grad)
        grads = [self._exec.grad_dict[n] for n in self.data_names]
        return grads if merge_multi_context else [[g] for g in grads]

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        """The arguments that keep their values."""
        return [self._exec.arg_dict[n] for n in self._states]

    def set_states(self, states: Any = None, value: Any = None) -> None:
        """Give them values: arrays, or one number."""
        for i, name in enumerate(self._states):
            self._exec.arg_dict[name][:] = value if states is None else states[i]

    def update_metric(self, eval_metric: Any, labels: Any) -> None:
        named = dict(zip(self._labels(), labels or (), strict=False))
        outputs = self._exec.output_dict
        if eval_metric.output_names or eval_metric.label_names:
            eval_metric.update_dict(named, outputs)
        else:
            eval_metric.update(list(labels or ()), list(outputs.values()))

    def install_monitor(self, mon: Any) -> None:
        self._need(bind=self.binded)
        mon.install(self._exec)

    def save_checkpoint(self, prefix: str, epoch: int, save_optimizer_states: bool = False) -> None:
        """Write symbol and parameters, and `prefix-0001.states` (of epoch 1) if asked for."""
        save_checkpoint(prefix, epoch, self._symbol, *self.get_params())
        if save_optimizer_states:
            self.save_optimizer_states(f"{prefix}-{epoch:04d}.states")

    @staticmethod
    def load(
        prefix: str, epoch: int, load_optimizer_states: bool = False, **keywords: Any
    ) -> Module:
        """The module of a checkpoint; bind it next."""
        symbol, arg, aux = load_checkpoint(prefix, epoch)
        module = Module(symbol, **keywords)
        module._loaded = (arg, aux)
        module._states_file = f"{prefix}-{epoch:04d}.states" if load_optimizer_states else None
        return module

    def save_optimizer_states(self, fname: str) -> None:
        """Write the state of the optimizer to a file."""
        self._need(init_optimizer=self.optimizer_initialized)
        if self._kvstore is not None:
            self._kvstore.save_optimizer_states(fname)
        else:
            self._updater.save(fname)

    def load_optimizer_states(self, fname: str) -> None:
        """Read the state of the optimizer from a file."""
        self._need(init_optimizer=self.optimizer_initialized)
        if self._kvstore is not None:
            self._kvstore.load_optimizer_states(fname)
        else:
            weights = {i: self._exec.arg_dict[n] for i, n in enumerate(self._param_names)}
            self._updater.load(fname, weights)


def _described(shapes: Any) -> list[DataDesc]:
    """Pairs of name and shape as `DataDesc`."""
    pairs = shapes.items() if isinstance(shapes, Mapping) else shapes
    return [d if isinstance(d, DataDesc) else DataDesc(*d) for d in pairs]


def _names(shapes: Any) -> list[str]:
    return [d[0] for d in shapes]
