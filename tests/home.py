"""What lies in a household's folders and on its wires, for tests of whole turns."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

LETTER = "Dear tenant, the chimney sweep comes on 14 March at 9:30. Please keep the cellar open."
DENTIST = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//EN
BEGIN:VEVENT
UID:1
DTSTART:{day}T160000
DTEND:{day}T163000
SUMMARY:Dentist
END:VEVENT
END:VCALENDAR
"""
SERIAL = {
    "sensors": {"greenhouse": {"request": "T?", "pattern": r"T=(\d+\.\d)", "unit": "°C"}},
    "switches": {"lamp": {"on": "L1", "off": "L0", "when_on": "L=1", "when_off": "L=0"}},
}


def write_home(folder: Path) -> tuple[Path, Path]:
    """A folder of papers with one letter, and one of calendars with one appointment today."""
    papers, calendars = folder / "papers", folder / "calendars"
    papers.mkdir(parents=True)
    calendars.mkdir()
    (papers / "chimney letter.txt").write_text(LETTER)
    (calendars / "home.ics").write_text(DENTIST.format(day=date.today().strftime("%Y%m%d")))
    return papers, calendars


def write_serial(path: Path, port: Path) -> None:
    """Settings with one device at `port`, which has a sensor and a switch."""
    lines = ["[serial.devices.board]", f"path = {json.dumps(str(port))}", "settle = 0.0"]
    for kind, entries in SERIAL.items():
        for name, entry in entries.items():
            lines += [f"[serial.devices.board.{kind}.{name}]"]
            lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(lines) + "\n")
