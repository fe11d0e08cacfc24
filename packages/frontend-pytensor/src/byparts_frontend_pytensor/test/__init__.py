"""What the tests of pytensor import."""
