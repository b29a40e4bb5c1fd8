"""The sections `background` and `results` of the settings: turns that nobody waits for, and where their
results go. Knows keys and limits, like `sections.py`."""

from __future__ import annotations

from pydantic import Field

from muleteer.settings.sections import Count, Seconds, Section, Words


class BackgroundSettings(Section):
    """Turns that a schedule starts."""

    tokens: Count = Field(
        40_000,
        ge=0,
        le=10_000_000,
        description="tokens of all background turns of a day; 0: none is run. A turn may take budgets.turn",
    )
    wait: Count = Field(
        30,
        ge=0,
        le=720,
        description="minutes that one may wait: for a cooler board, power or the seat, then it is skipped; "
        "for people to stop talking, then it runs all the same",
    )
    quiet: Seconds = Field(
        60.0, ge=0.0, le=3600.0, description="seconds without a turn of a person before one begins"
    )
    battery: bool = Field(False, description="true: they run on battery, too")


class ResultSettings(Section):
    """Where the results of background turns go, beside the inbox."""

    command: tuple[Words, ...] = Field(
        (),
        max_length=64,
        description="program and arguments, no shell; the result is one JSON object on its standard input",
    )
    webhook: Words = Field(
        "", max_length=2048, description="address that the result is posted to as a JSON object"
    )
    mqtt: Words = Field(
        "",
        max_length=2048,
        description="mqtt://HOST[:PORT]/TOPIC to publish the result on; needs muleteer[mqtt]",
    )
    mqtt_user: Words = Field("", max_length=256, description="user name at that broker")
    mqtt_password_file: Words = Field("", max_length=4096, description="file that holds the password")
    seconds: Seconds = Field(30.0, ge=1.0, le=300.0, description="seconds that each of them may take")
