# SPDX-License-Identifier: Apache-2.0
"""Colibri through its C interface: ids in, logits out."""

import ctypes
from pathlib import Path


class Error(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("code", ctypes.c_int32), ("text", ctypes.c_char * 512)]


class ModelParams(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("set", ctypes.POINTER(ctypes.c_char_p)), ("set_count", ctypes.c_uint32)]


class Colibri:
    """A model and one context, while it is entered. A call that fails raises RuntimeError."""

    def __init__(self, program: Path, model: str, threads: int, tokens: int):
        """program: bin/colibri, whose library is used. tokens: the longest sequence."""
        self.library = ctypes.CDLL(str(program.resolve().parent.parent / "lib/libcolibri.so"))
        self.path, self.settings = model, [f"threads.count={threads}", f"context.max_tokens={tokens}"]
        self.model, self.context = ctypes.c_void_p(), ctypes.c_void_p()

    def _call(self, function, *values) -> None:
        error = Error(struct_size=ctypes.sizeof(Error))
        if function(*values, ctypes.byref(error)) != 0:
            raise RuntimeError(error.text.decode())

    def __enter__(self):
        settings = (ctypes.c_char_p * len(self.settings))(*(setting.encode() for setting in self.settings))
        params = ModelParams(ctypes.sizeof(ModelParams), settings, len(settings))
        self._call(self.library.colibri_load_model, self.path.encode(), ctypes.byref(params), ctypes.byref(self.model))
        self._call(self.library.colibri_init_context, self.model, 0, ctypes.byref(self.context))
        self.logits = (ctypes.c_float * self.library.colibri_vocabulary(self.model))()
        return self

    def __exit__(self, *_):
        self.library.colibri_free_context(self.context)
        self.library.colibri_free_model(self.model)

    def clear(self) -> None:
        self.library.colibri_reset_context(self.context)

    def forward(self, ids: list[int]) -> ctypes.Array:
        """The logits of the last id; the array is the next call's, too. Behind others ids go one by one."""
        library, context = self.library, self.context
        if library.colibri_context_tokens(context) == 0:
            self._call(library.colibri_run_inference, context, (ctypes.c_int32 * len(ids))(*ids), ctypes.c_size_t(len(ids)),
                       self.logits, None)
            return self.logits
        for i in ids:
            self._call(library.colibri_forward, context, (ctypes.c_int32 * 1)(i), ctypes.c_size_t(1), self.logits, None)
        return self.logits
