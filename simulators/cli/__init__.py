"""The commands that join `pitbox` when simulators are installed: `sim` and `demo`. A production box leaves them out."""
