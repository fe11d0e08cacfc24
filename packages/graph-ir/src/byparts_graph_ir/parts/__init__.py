"""The parts that are installed: records, discovery, the hub, commands about parts."""
