"""The wake word, by microWakeWord: small networks for one word each, at a two-hundredth of a core.

Knows the names of those that come with the library, and the files of others.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from muleteer import paths
from muleteer.errors import ConfigError

if TYPE_CHECKING:
    from pymicro_wakeword import MicroWakeWord

HOLD_FRAMES = 50  # of 20 ms: a word is heard in many frames in a row, and is one call


class MicroWake:
    """A `WakeWord` for `word`: one of the library's names, or the path of a model's JSON file.

    Raises `ConfigError` when there is no such word.
    """

    def __init__(self, word: str) -> None:
        self._word = word
        self._model: MicroWakeWord | None = None
        self._held = 0
        self.reset()

    def hears(self, frame: bytes) -> str:
        """As `WakeWord` has it; the word is told once."""
        if self._model is None:
            return ""
        heard = [self._model.process_streaming(each) for each in self._features.process_streaming(frame)]
        self._held = max(0, self._held - 1)
        if not any(heard) or self._held:
            return ""
        self._held = HOLD_FRAMES
        return Path(self._word).stem

    def reset(self) -> None:
        """As `WakeWord` has it. The network remembers a second; a new one takes 1 ms."""
        from pymicro_wakeword import MicroWakeWordFeatures

        self._end()
        self._model = _model(self._word)
        self._features = MicroWakeWordFeatures()
        self._held = 0

    async def close(self) -> None:
        """Idempotent."""
        self._end()

    def _end(self) -> None:
        if self._model is not None:
            self._model.close()
        self._model = None


def _model(word: str) -> MicroWakeWord:
    from pymicro_wakeword import MicroWakeWord, Model

    builtin = [each.value for each in Model]
    if word in builtin:
        return MicroWakeWord.from_builtin(Model(word))
    path = paths.expand(word)
    if not path.is_file():
        raise ConfigError(
            f"There is no wake word {word}; voice.wake_word is one of {', '.join(builtin)}, "
            "or the JSON file of another microWakeWord model."
        )
    try:
        return MicroWakeWord.from_config(path)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} is no microWakeWord model: {error!r}.") from error
