"""What programs have around the graph: flags, logging, tests, summaries."""
