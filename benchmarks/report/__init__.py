"""What is shown of a measurement: tables, ratios, the picture, facts of the machine, progress."""
