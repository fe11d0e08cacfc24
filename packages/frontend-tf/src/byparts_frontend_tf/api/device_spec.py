"""`tf.DeviceSpec`: the parts of the name of a device, and a function that deals variables out."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.graph.device import parts_of_device, written
from byparts_frontend_tf.symbols import symbol

_PARTS = ("job", "replica", "task", "device_type", "device_index")


@symbol("DeviceSpec", "python.framework.device_spec.DeviceSpecV1")
class DeviceSpec:
    """A device, or what is known of one: `None` are the parts that are not."""

    def __init__(
        self,
        job: Optional[str] = None,
        replica: Optional[int] = None,
        task: Optional[int] = None,
        device_type: Optional[str] = None,
        device_index: Optional[int] = None,
    ) -> None:
        self.job, self.replica, self.task = job, _number(replica), _number(task)
        self.device_type = None if device_type is None else device_type.upper()
        self.device_index = _number(device_index)

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """The device of a name, such as "/job:worker/device:GPU:0".

        Raises:
            ValueError: it is none.
        """
        return cls().parse_from_string(spec)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """Become the device of a name."""
        parts = parts_of_device(spec)
        kind, _, index = parts.get("device", "").partition(":")
        self.job, self.device_type = parts.get("job"), kind or None
        self.replica, self.task = _number(parts.get("replica")), _number(parts.get("task"))
        self.device_index = _number(index if index not in ("", "*") else None)
        return self

    def merge_from(self, dev: DeviceSpec) -> None:
        """Take the parts that the other has."""
        for part in _PARTS:
            if getattr(dev, part) is not None:
                setattr(self, part, getattr(dev, part))

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """A copy of this specification, with the parts that `dev` has in place of its own."""
        made = self.replace()
        made.merge_from(dev)
        return made

    def replace(self, **parts: Any) -> DeviceSpec:
        """A copy of this specification with other parts."""
        return type(self)(**{**{p: getattr(self, p) for p in _PARTS}, **parts})

    def to_string(self) -> str:
        """The name of the device, as TensorFlow writes it."""
        parts = {p: str(getattr(self, p)) for p in _PARTS[:3] if getattr(self, p) is not None}
        if self.device_type is not None:
            index = "*" if self.device_index is None else self.device_index
            parts["device"] = f"{self.device_type}:{index}"
        return written(parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self.to_string())


def _number(given: Any) -> Optional[int]:
    return None if given is None else int(given)


@symbol("contrib.framework.VariableDeviceChooser")
class VariableDeviceChooser:
    """Deals variables out to the tasks of a job, one after the other.

    Args:
        num_tasks: how many tasks; 0: no task is said.
        job_name: of the job.
        device_type: of their devices.
        device_index: of their devices.
        replica: of their devices.
    """

    def __init__(
        self,
        num_tasks: int = 0,
        job_name: str = "ps",
        device_type: str = "CPU",
        device_index: int = 0,
        replica: Optional[int] = None,
    ) -> None:
        self._tasks, self._next = num_tasks, 0
        self._spec = DeviceSpec(job_name, replica, None, device_type, device_index)

    def __call__(self, op: Any) -> str:
        if not self._tasks:
            return self._spec.to_string()
        task, self._next = self._next, (self._next + 1) % self._tasks
        return self._spec.replace(task=task).to_string()


SYMBOLS = {"contrib.slim.VariableDeviceChooser": "VariableDeviceChooser"}
