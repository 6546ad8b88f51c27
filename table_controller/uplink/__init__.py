"""MQTT: what the table tells the house, and the few things the house may ask. It decides and moves nothing."""
