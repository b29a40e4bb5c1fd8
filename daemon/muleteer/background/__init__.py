"""Background turns: a skill at a slot of its schedule, claimed, run once, its result passed on."""
