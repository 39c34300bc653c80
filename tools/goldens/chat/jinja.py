# SPDX-License-Identifier: Apache-2.0
"""Jinja as transformers sets it up for chat templates, with a fixed date."""
import datetime
from unittest import mock

from transformers.utils import chat_template_utils

NOW = datetime.datetime(2026, 3, 7, 9, 5, 2)  # a Saturday; two digits only by padding


class _FixedClock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return NOW


# strftime_now looks the name up when it is called: this stays in force.
mock.patch.object(chat_template_utils, "datetime", _FixedClock).start()


def compile_template(template):
    return chat_template_utils._compile_jinja_template(template)
