"""Files that come in wheels, against ONNX Runtime, at several sizes; run only when asked.

    BYPARTS_ONNX_FILES=1 pytest integration/test_onnx_files.py

fetches three wheels by `pip download`, and needs onnxruntime.  Nothing of them is kept.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

if not os.environ.get("BYPARTS_ONNX_FILES"):
    pytest.skip("set BYPARTS_ONNX_FILES=1 to fetch wheels", allow_module_level=True)
onnx_files = pytest.importorskip("onnx_files", reason="needs onnxruntime")

VAD = "silero_vad/data"
OCR = "rapidocr_onnxruntime/models"
CASES = [
    *(
        ("silero-vad", f"{VAD}/silero_vad.onnx", {"input_0": n, "input_1": m, "state_1": n},
         {"sr": rate})
        for n, m, rate in ((1, 512, 16000), (3, 512, 16000), (2, 256, 8000))
    ),
    *(
        ("silero-vad", f"{VAD}/silero_vad_op18_ifless.onnx", {"batch": n, "sequence": 512},
         {"sr": 16000})
        for n in (1, 3)
    ),
    *(("magika", "magika/models/standard_v3_3/model.onnx", {"unk__214": n}, {}) for n in (1, 3)),
    *(
        ("rapidocr-onnxruntime", f"{OCR}/{name}.onnx",
         dict.fromkeys(("x_0", "p2o.DynamicDimension.0"), n)
         | {"x_2": 48, "x_3": m, "p2o.DynamicDimension.1": m, "p2o.DynamicDimension.2": m}, {})
        for name in ("ch_ppocr_mobile_v2.0_cls_infer", "ch_PP-OCRv4_rec_infer",
                     "ch_PP-OCRv4_det_infer")
        for n, m in ((1, 96), (2, 128))
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the contents of the three wheels."""
    folder = tmp_path_factory.mktemp("wheels")
    names = sorted({case[0] for case in CASES})
    command = (sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder))
    subprocess.run((*command, *names), check=True)
    for wheel in folder.glob("*.whl"):
        ZipFile(wheel).extractall(folder)
    return folder


@pytest.mark.parametrize(("wheel", "file", "sizes", "values"), CASES)
def test_a_file_of_others(
    fetched: Path, wheel: str, file: str, sizes: dict[str, int], values: dict[str, float]
) -> None:
    assert onnx_files.difference(fetched / file, sizes, values) < 1e-4
