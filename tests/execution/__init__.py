"""Tests of the room that does tasks."""
