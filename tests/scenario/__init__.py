"""Tests of several parts together: drivers, boxes, whole tables, mostly in virtual time."""
