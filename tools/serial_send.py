"""Send a line of text to a device at a serial port, if its owner allows that."""

from __future__ import annotations

from muleteer.tool import Data, Result, Services, tool

NONE_SET_UP = "No device may be sent text; a device's settings must say send = true."
LONGEST = 200  # bytes; a microcontroller's own buffer is often 64
QUOTED = 200  # characters of the answer that the sentence repeats


@tool(
    effect="physical",
    exact=("text",),
    menu=False,
    timeout=60,
    craft="text is exactly what the user wants sent, without quotes around it.",
)
async def serial_send(device: str, text: str, home: Services) -> Result:
    """Send a line of text to a serial device. Use it when a skill names the device and the text.

    device: which device, as it is called
    text: the line to send
    """
    line = text.strip()
    if not line or not line.isprintable():
        return Result.error("Nothing was sent: the text must be one line of printable characters.")
    if (size := len(line.encode())) > LONGEST:
        return Result.error(f"Nothing was sent: the text has {size} bytes; at most {LONGEST} may be.")
    found = await home.serial.find("devices", device) if device.strip() else []
    allowed = await home.serial.find("receivers", "")
    if not found:
        there = f"There are: {', '.join(allowed)}." if allowed else NONE_SET_UP
        return Result.empty(f"There is no such device, so nothing was sent. {there}")
    if found[0] not in allowed:
        return Result.error(
            f"Nothing was sent: {found[0]} takes no free text; its settings must say send = true."
        )
    try:
        told = await home.serial.send(found[0], line)
    except OSError as error:
        return Result.unavailable(f"The text could not be sent: {error}.")
    if told.problem:
        return Result.ok(f'Sent "{line}" to {found[0]}; no answer: {told.problem}.')
    answer = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in told.answer)
    data = Data({"device": found[0], "sent": line, "answer": answer})
    return Result.ok(f'Sent "{line}" to {found[0]}; it answered "{answer[:QUOTED]}".', data, (found[0],))
