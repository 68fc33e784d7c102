"""How options are declared once, in a frozen dataclass, and shown everywhere from there."""
