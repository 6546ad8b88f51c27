"""Parts of simulated firmware that several kinds of machine share. Firmware sees sensors, never the true places."""
