"""The picture of a table that status, pages, MQTT, terminal, metrics and fault reports select from."""
