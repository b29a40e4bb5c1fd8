"""Parts of a conversation that other programs lend over Wyoming, the protocol of voice pipelines.

server      where such a program is, and one connection to it, within limits
recognizer  speech to text, as wyoming-faster-whisper gives it
speech      text to speech, as wyoming-piper gives it
wake        a wake word, as wyoming-openwakeword hears it
satellite   a microphone and a speaker elsewhere, as wyoming-satellite lends them
"""
