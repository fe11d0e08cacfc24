"""What is installed: records, discovery, the hub, commands about parts."""
