"""MQTT: publishes the journal and the state of the table, and answers a few commands that change nothing."""
