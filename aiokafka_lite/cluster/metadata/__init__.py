"""What a client knows of topics and leaders, and when it asks again."""
