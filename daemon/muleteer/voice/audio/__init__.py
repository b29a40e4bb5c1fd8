"""Microphone and speaker of this board, by miniaudio.

It brings all it needs in one library and finds PipeWire, PulseAudio or ALSA when it is used, so that it
installs on a board without any of them. PortAudio must be installed apart, and the one of Debian 12 may spin
for ever when a USB device is pulled out.
"""
