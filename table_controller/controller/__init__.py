"""The running box: the single writer, the slots of devices, commands, deadlines and the safe mode."""
