"""Proof without people: commands said by synthetic voices go through the parts of a conversation.

commands, data   what is said, and the tool call that it must end in
talkers, sounds  who says it, and what else is heard
ends             a microphone and a speaker that are none
words            how much was understood
battery          all of it as a battery of `muleteer evaluate`
"""
