"""The metrics page: valid exposition text, and figures that are the table's."""

from __future__ import annotations

import re

from table_controller.panel.metrics import Tally, metrics_text
from table_controller.table import events as ev
from tests.support.two_games import *  # noqa: F403
