"""Each check on machines that are well and on those that are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from muleteer.config import Settings
from muleteer.doctor import machine, service
from muleteer.doctor.finding import Finding
from muleteer.sensors import Reading
from muleteer.settings.sections import EngineSettings

NOW = 1_796_000_000.0
PI4 = "processor\t: 0\nFeatures\t: fp asimd evtstrm crc32 cpuid\n"
PI5 = "processor\t: 0\nFeatures\t: fp asimd evtstrm aes asimddp\n"


def model(tmp_path: Path, size: int) -> Settings:
    path = tmp_path / "model.gguf"
    with path.open("wb") as file:
        file.write(b"GGUF")
        file.truncate(size)
    return Settings(engine=EngineSettings(model=str(path)))


@pytest.mark.parametrize(
    ("finding", "verdict", "said"),
    [
        (machine.python((3, 11), True), "good", "Python 3.11"),
        (machine.python((3, 9), True), "bad", "Python 3.9"),
        (machine.python((3, 12), False), "bad", "without llama-cpp-python"),
        (machine.processor("aarch64", machine.features(PI5)), "good", "aarch64 with asimddp"),
        (machine.processor("aarch64", machine.features(PI4)), "doubtful", "aarch64 without asimddp"),
        (machine.processor("riscv64", machine.features("")), "doubtful", "not known"),
        (machine.heat(Reading(85.0), 80.0), "doubtful", "85 °C"),
        (machine.heat(Reading(60.0, 0x1), 80.0), "doubtful", "the supply voltage is too low"),
        (machine.heat(Reading(60.0, 0x50000), 80.0), "good", "60 °C"),
        (machine.clock(0.0, NOW, None), "bad", "which is over"),
        (machine.clock(NOW, NOW, False), "doubtful", "not synchronised"),
        (machine.clock(NOW, NOW, True), "good", "2026"),
        (machine.mdns(False), "good", "turned off"),
        (service.state({"state": "ready", "reason": ""}), "good", "ready"),
        (service.state({"state": "loading", "reason": "slow"}), "doubtful", "loading: slow"),
        (service.state({"state": "failed", "reason": "gone"}), "bad", "failed: gone"),
        (service.voice({"listen": "off", "port": 0, "socket": ""}), "good", "closed"),
        (service.voice({"listen": "loopback", "port": 10500, "socket": "/run/v"}), "good", "10500, /run/v"),
        (service.voice({"listen": "lan", "port": 10500, "allowed": []}), "doubtful", "everybody"),
        (service.voice({"listen": "lan", "port": 10500, "allowed": ["10.0.0.5"]}), "good", "at 10500"),
        (service.voice({"listen": "lan", "problem": "TCP port 1: no"}), "bad", "TCP port 1: no"),
        (service.seat({"role": "driver", "reason": "this device drives."}), "good", "drives"),
        (service.seat({"role": "no majority", "reason": "too few."}), "doubtful", "too few"),
        (
            service.seat({"role": "alone", "reason": "alone.", "mdns": "No network."}),
            "doubtful",
            "No network",
        ),
        (
            service.seat(
                {"role": "alone", "reason": "alone.", "mdns": "no household is announced: it belongs to none"}
            ),
            "good",
            "alone",
        ),
        (service.timers({}), "good", "none needed"),
        (service.timers({"a": "enabled", "b": "disabled"}), "good", "1 enabled, 1 disabled"),
        (service.timers({"a": "enabled", "b": "missing"}), "doubtful", "b: no timer"),
    ],
)
def test_a_check(finding: Finding, verdict: str, said: str) -> None:
    assert finding.verdict == verdict
    assert said in finding.said
    assert bool(finding.advice) == (verdict != "good")


def test_memory_is_judged_by_the_models_file(tmp_path: Path) -> None:
    settings = model(tmp_path, 100 * machine.MIB)
    verdicts = [machine.memory(settings, total * machine.MIB).verdict for total in (4096, 320, 128)]
    assert verdicts == ["good", "doubtful", "bad"]


def test_a_model_that_is_not_there_is_named_with_what_fetches_it(tmp_path: Path) -> None:
    finding = machine.memory(Settings(models=tmp_path, engine=EngineSettings(model="small")), 2**33)
    assert (finding.verdict, finding.advice) == ("bad", "Fetch it: muleteer model pull small.")


def test_the_disk_is_that_of_a_folder_that_is_still_to_be_made(tmp_path: Path) -> None:
    assert str(tmp_path) in machine.disk(tmp_path / "not" / "yet").said


def test_a_socket_is_judged_by_its_mode(tmp_path: Path) -> None:
    assert service.socket(tmp_path / "s").verdict == "bad"
    (tmp_path / "s").touch()
    assert "is no socket" in service.socket(tmp_path / "s").said
