"""From what is known of each handle to one distribution, and from that to a plan. Pure.

Two things speak for a handle: how likely the model finds it, and how like the message is to its examples.
Both are put on one scale by weights that were fitted on the development half of the shipped routing
battery; what the battery's other half says of the result is in the report of `muleteer evaluate routing`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from muleteer.harness.signals import Plan

REPLY = "reply"

# The weights: of the logarithm of the model's share, and of the likeness. On the development half
# `standard` alone is right in 138 of 155; with the likeness at a weight of 1.5 to 4 times the model's in
# 147 to 150. A smaller one of these leaves more to the model where a handle has few examples.
MODEL, LIKENESS = 0.8, 2.5

# How many times as likely a handle is that evidence speaks for. Set by hand: 0.17 wins over 0.41, and a share
# of 0.98 keeps its place beside 0.01.
EVIDENCE = 20.0

# A share from which on nothing is looked at twice.
SURE = 0.8

# A share below this tells nothing more: options that the engine finds hopeless share what is left evenly.
LEAST = 1e-4

# A second handle joins the plan only when it is nearly as likely as the first: at 0.3 every second handle in
# 76 messages was a mistake, and the follower then had to choose between the wrong one and the right one.
SECOND_SHARE = 0.4

# `@reply` must be at least this likely; below it the likeliest handles are given to L2, which may still
# finish without a call. A wrong reply costs the answer, a needless L2 only seconds.
REPLY_SHARE = 0.5


def together(model: Mapping[str, float], likeness: Mapping[str, float]) -> dict[str, float]:
    """One share for each handle of `model`, summing to 1; a handle without a likeness gets the mean one."""
    if not model:
        return {}
    mean = sum(likeness.values()) / len(likeness) if likeness else 0.0
    logits = {
        handle: MODEL * math.log(max(share, LEAST)) + LIKENESS * likeness.get(handle, mean)
        for handle, share in model.items()
    }
    most = max(logits.values())
    weights = {handle: math.exp(logit - most) for handle, logit in logits.items()}
    total = sum(weights.values())
    return {handle: weight / total for handle, weight in weights.items()}


def favoured(shares: Mapping[str, float], handles: Collection[str]) -> dict[str, float]:
    """The shares where evidence speaks for these handles."""
    if not handles:
        return dict(shares)
    weights = {handle: share * (EVIDENCE if handle in handles else 1) for handle, share in shares.items()}
    total = sum(weights.values())
    return {handle: weight / total for handle, weight in weights.items()} if total else weights


def decide(shares: Mapping[str, float]) -> Plan | None:
    """The plan that a distribution over handles (with `reply`) stands for; None is a reply."""
    ranked = sorted((h for h in shares if h != REPLY), key=lambda h: -shares[h])
    if not ranked or shares[REPLY] >= REPLY_SHARE:
        return None
    chosen = [ranked[0], *(h for h in ranked[1:] if shares[h] >= SECOND_SHARE)]
    return Plan(tuple(chosen), shares[ranked[0]])
