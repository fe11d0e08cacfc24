"""Rules for the ops of ATen, one module for each kind; importing one registers its rules."""
