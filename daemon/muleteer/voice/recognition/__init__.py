"""Speech to text on this device, in a process of its own that may die and is started again.

recognizer  the near side: keeps the process running, one utterance at a time
process     the far side: its limits, and what it is asked
wire        what they say to each other
whisper     ears that understand anything
commands    ears that know the skills' examples only, for the smallest boards
weights     Whisper models by name, fetched out of packages
names       what people, devices, places and skills are called here, as the daemon has it
"""
