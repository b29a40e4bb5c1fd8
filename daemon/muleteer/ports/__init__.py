"""Serial ports: the microcontrollers of a household, what they measure and what they switch.

`settings` says what a household has declared, `finding` where a device is plugged in, `lines` what the bytes
are, `link` how one line is asked and answered, `protocol` what an answer means, `device` who may ask when,
and `service` what tools are lent. Nothing outside this package knows pyserial.
"""
