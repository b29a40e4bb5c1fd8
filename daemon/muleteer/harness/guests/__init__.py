"""Conversations that others keep: programs that send messages, tools and wishes of their own."""
