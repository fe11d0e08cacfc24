"""Input queues, readers of files, and what runs them in threads."""
