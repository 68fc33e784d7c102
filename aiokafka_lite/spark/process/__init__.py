"""What every Python worker process of Spark shares."""
