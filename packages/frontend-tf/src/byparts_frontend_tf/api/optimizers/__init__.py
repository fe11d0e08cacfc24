"""What trains: optimizers, rates that change, clipping, moving averages."""
