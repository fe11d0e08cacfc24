"""For people who look: tables, times, costs."""
