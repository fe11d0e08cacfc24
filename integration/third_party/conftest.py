"""What is in here is installed by `../test_third_party.py`, and its tests run there."""

collect_ignore_glob = ["*/*"]
