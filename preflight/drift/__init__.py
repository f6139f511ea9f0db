"""What differs between two launches, be they files or boots that a log shows, and what it does to memory."""
