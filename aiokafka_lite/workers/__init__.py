"""The worker pool over one consumer: handlers side by side, in the order that the user chooses."""
