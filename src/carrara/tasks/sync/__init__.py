"""SYNC (a synthetic long-context understanding benchmark): several questions on one shared context."""
