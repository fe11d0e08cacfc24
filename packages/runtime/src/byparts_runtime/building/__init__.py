"""From a graph to a program: `build`, its options and its five steps."""
