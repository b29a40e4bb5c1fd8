"""A board with a microphone as an assistant: a process that talks to the daemon like any client.

parts     what a spoken conversation is made of, as protocols
opening   each part as the settings have it
spoken    how an answer is read out
wyoming   parts that other programs lend
"""
