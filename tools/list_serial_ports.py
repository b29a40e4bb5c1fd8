"""Which serial ports this device has: for setting up sensors and switches."""

from __future__ import annotations

from muleteer.tool import Data, Result, Services, tool


@tool(effect="read", menu=False, hidden=True)
async def list_serial_ports(home: Services) -> Result:
    """List the serial ports and what is plugged in there. Use it to find a device's USB id or path."""
    ports = await home.serial.ports()
    if not ports:
        return Result.empty("There is no serial port; plug the device in and try again.")
    lines = []
    for port in ports:
        about = [port.description, f'usb = "{port.usb}"' if port.usb else ""]
        about += [f"set up as {name}" for name in port.devices]
        shown = ", ".join(each for each in about if each)
        lines.append(f"{port.path} ({shown})" if shown else port.path)
    values = [
        {"path": p.path, "description": p.description, "usb": p.usb, "devices": list(p.devices)}
        for p in ports
    ]
    count = "1 serial port" if len(ports) == 1 else f"{len(ports)} serial ports"
    return Result.ok(f"{count}: {'; '.join(lines)}.", Data({"ports": values}))
