"""Routing: does the planner choose the right handle, or rightly none? `cases.py` reads a battery,
`battery.py` asks, `figures.py` counts, `report.py` and `picture.py` tell."""
