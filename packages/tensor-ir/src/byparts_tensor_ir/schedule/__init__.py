"""Steps from function to function, each checked."""
