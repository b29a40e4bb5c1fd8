"""The conversation: who speaks when, from the wake word to the answer that is heard out.

    ear (cuts sound into utterances) -> machine (decides) -> driver (does it with the parts)

`ear.py`, `bell.py`, `machine.py` and `deeds.py` are pure: frames, texts and moments in, deeds out.
"""
