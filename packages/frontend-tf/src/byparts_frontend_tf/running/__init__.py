"""From fetches and feeds to programs of byparts, and running them."""
