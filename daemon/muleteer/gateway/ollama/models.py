"""The one model of this device, as Ollama's clients list, inspect and watch it. Knows its file and status."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from muleteer.engine import models
from muleteer.engine.protocol import EngineStatus, Properties
from muleteer.gateway.guests import Guests
from muleteer.gateway.ollama.telling import Json, moment

TAG = ":latest"
UNKNOWN_DIGEST = "0" * 64  # of a file that is in no catalogue; clients show the first twelve
FOREVER = "9999-12-31T23:59:59Z"
# llama.cpp's numbers of how weights are stored, as Ollama writes them.
QUANTIZED = {0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K"}
QUANTIZED |= {11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S"}
QUANTIZED |= {17: "Q5_K_M", 18: "Q6_K", 32: "BF16"}


class Models:
    """`configured` is the model of the settings, `idle` the seconds after which it is unloaded, 0: never."""

    def __init__(
        self,
        guests: Guests,
        status: Callable[[], EngineStatus],
        configured: str,
        folder: Path | None,
        context: int,
        idle: float,
    ) -> None:
        self._guests, self._status, self._context, self._idle = guests, status, context, idle
        entry = models.load_catalogue().get(configured)
        self._digest = entry.sha256 if entry else UNKNOWN_DIGEST
        self._path = None if configured == models.NONE else models.locate(configured, folder)

    @property
    def context(self) -> int:
        """Tokens: the loaded model's, else those of the settings."""
        properties = self._status().properties
        return properties.context if properties else self._context

    def known(self, name: str) -> str | None:
        """The name as it is told back; None for one that is not here."""
        return name if name.removesuffix(TAG) + TAG in self.names else None

    @property
    def names(self) -> tuple[str, ...]:
        """As clients list them: each is the same model. None where there is no model."""
        return tuple(name + TAG for name in self._guests.names) if self._path else ()

    def listed(self) -> Json:
        """Of `GET /api/tags`."""
        return {"models": [{"name": name, "model": name, **self._file()} for name in self.names]}

    def running(self) -> Json:
        """Of `GET /api/ps`."""
        status = self._status()
        if status.state != "ready" or status.properties is None:
            return {"models": []}
        loaded = status.properties
        told: Json = {
            "size": loaded.size + loaded.kv_bytes,
            "size_vram": 0,
            "context_length": loaded.context,
        }
        if not self._idle:
            told["expires_at"] = FOREVER
        return {"models": [{"name": name, "model": name, **self._file(), **told} for name in self.names[:1]]}

    def shown(self) -> Json:
        """Of `POST /api/show`. The template is not told: prompts are made by more than it."""
        properties = self._status().properties
        architecture = properties.architecture if properties else ""
        info: Json = {"general.architecture": architecture or "unknown"}
        if architecture:
            info[f"{architecture}.context_length"] = self.context
        if properties:
            info["muleteer.trained_context_length"] = properties.trained_context
        file = self._file()
        return {
            "modelfile": "",
            "parameters": f"num_ctx {self.context}\ntemperature 0",
            "template": "",
            "details": file["details"],
            "model_info": info,
            "capabilities": ["completion", "tools"],
            "modified_at": file["modified_at"],
        }

    def _file(self) -> Json:
        """What is known of the file without reading it."""
        try:
            about = self._path.stat() if self._path else None
        except OSError:  # it was taken away, and is still loaded
            about = None
        return {
            "modified_at": moment(datetime.fromtimestamp(about.st_mtime if about else 0, UTC)),
            "size": about.st_size if about else 0,
            "digest": self._digest,
            "details": _details(self._status().properties),
        }


def _details(properties: Properties | None) -> Json:
    family = properties.architecture if properties else ""
    stored = properties.file_type if properties else -1
    return {
        "parent_model": "",
        "format": "gguf",
        "family": family,
        "families": [family] if family else [],
        "parameter_size": properties.size_label if properties else "",
        "quantization_level": QUANTIZED.get(stored, "unknown"),
    }
