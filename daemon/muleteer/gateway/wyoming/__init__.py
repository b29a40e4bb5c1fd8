"""Wyoming, the protocol of voice pipelines: text of what was said comes in, what to say goes out.

It knows no passwords. Whoever can connect can talk, so it is off unless the settings open it, and a turn that
comes this way may do what any turn may and nothing else: no settings, no memory, no tools by hand.
"""
