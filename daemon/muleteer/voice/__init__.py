"""A board with a microphone as an assistant: a process that talks to the daemon like any client.

parts         what a spoken conversation is made of, as protocols
opening       each part as the settings have it
audio         microphone and speaker
wake          the wake word; `activity` tells speech from noise
recognition   speech to text in a process of its own, and its models
espeak        text to speech
spoken        how an answer is read out
conversation  who speaks when
process       all of that as a process, with its control socket
wyoming       parts that other programs lend
bench         people of synthetic speech, and how well they are understood
"""
