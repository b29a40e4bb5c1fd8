"""The section `service` of the settings: what `muleteer install` puts into the unit, and its limits."""

from __future__ import annotations

from pydantic import Field, model_validator

from muleteer.settings.sections import Count, Section

LEAST = 256  # MiB; less would hold no model
MOST = 1_048_576  # MiB; beyond any board


class ServiceSettings(Section):
    """The limits of the service, daemon and engine together; a change wants `muleteer install` again."""

    memory_high: Count = Field(
        0, ge=0, le=MOST, description="MiB above which systemd slows the service down (MemoryHigh); 0: none"
    )
    memory_max: Count = Field(
        0, ge=0, le=MOST, description="MiB above which the engine is killed (MemoryMax); 0: no limit"
    )
    lan_only: bool = Field(
        False, description="whether the service reaches private addresses alone, and nothing on the internet"
    )

    @model_validator(mode="after")
    def _in_order(self) -> ServiceSettings:
        for name in ("memory_high", "memory_max"):
            if 0 < getattr(self, name) < LEAST:
                raise ValueError(f"{name} must be 0 or at least {LEAST}")
        if self.memory_max and self.memory_high > self.memory_max:
            raise ValueError("memory_high must not be above memory_max")
        return self
