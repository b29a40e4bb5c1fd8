"""Keep a note for the user."""

from __future__ import annotations

import re

from muleteer.tool import Result, Services, say, tool

NOTE_LIMIT = 1_000  # characters; a longer note alone would fill the prompt that is answered from
COMMON_PAGE = "Notes"  # where the notebook keeps what belongs nowhere else
# The order to note something, which is no part of the note, in the languages that the examples are in.
ORDER = re.compile(
    r"^\W*(?:(?:please|bitte|hey|and|und|then|dann)\W+)*(?:"
    r"(?:remember|note|save|make a note|take a note|keep in mind|(?:write|jot|note) (?:this |it )?down"
    r"|do(?:n['\u2019]t| not) forget)(?: that\b|\W*[:,])"
    r"|(?:merke? dir|schreibe?(?: dir)? auf|notiere?(?: dir)?|notiz|behalte|vergiss nicht|denk dran)"
    r"(?:\W*[:,](?: dass\b)?)"
    r"|(?:recuerda|anota|apunta|guarda|note|souviens-toi|ricorda|segna|onthoud|schrijf op)"
    r"(?: que\b| che\b| dat\b|:)"
    r")\s*",
    re.IGNORECASE,
)
# "Put eggs on the shopping list": what stands on the list is eggs.
LISTED = re.compile(
    r"^\W*(?:(?:please|bitte|por favor|hey|and|und|then|dann|can you|could you|kannst du|könntest du"
    r"|remember to|do(?:n['\u2019]t| not) forget to)\W+)*"
    r"(?:(?:put|add|write|note|set|save|setze?|schreibe?|notiere?|pack|tue?|füge?|nimm|pon|añade|apunta|anota"
    r"|ajoute|mets|note|segna|aggiungi|metti|zet|schrijf|voeg|põe|ponha|adiciona|coloca|acrescenta)\b\s*(?:mir|bitte|noch)?\s*)?"
    r"(?P<what>\S.*?)\s+(?:"
    r"(?:on|onto|to|in|for) (?:the|my|our) (?P<en>[\w-]+) (?:page|list)"
    r"|(?:auf|in|zu) (?:die|der|den|das|dem|meine?\w?|unsere?\w?) (?P<de>\w{3,}(?:liste|seite|zettel))"
    r"(?: (?:hinzu|auf|setzen|schreiben))?"
    r"|(?:en|a) (?:la|mi|nuestra) (?:lista|página) de(?: la)? (?P<es>[\w-]+)"
    r"|(?:à|sur|dans) (?:la|ma|notre) liste (?:de |des )(?P<fr>[\w-]+)"
    r"|(?:sulla|alla|nella) (?:mia |nostra )?lista (?:della |dei )(?P<it>[\w-]+)"
    r"|(?:op|aan) (?:de|het|mijn|onze) (?P<nl>\w{3,}(?:lijst|lijstje))(?: toe)?"
    r"|(?:à|na) (?:minha |nossa )?lista (?:de |das? )(?P<pt>[\w-]+)"
    r")\W*(?:please|bitte|por favor)?\W*$",
    re.IGNORECASE,
)

# Turkish names the list first, and gives the order last: "alışveriş listesine süt ekle".
LISTED_FIRST = re.compile(
    r"^\W*(?:lütfen )?(?P<tr>\w+) listes?i?(?:ne|me|mize) (?P<what>\S.*?)\s+(?:ekle|yaz|koy)(?:yin|in)?\W*$",
    re.IGNORECASE,
)


@tool(
    effect="write",
    exact=("note",),
    words=("note",),
    craft="Copy the fact in the user's own words and language, complete with names and numbers. "
    "Leave out only phrases such as 'remember that'.",
    examples=(
        "remember that the car is on level 3",
        "note: Mia's shoe size is 34",
        "keep in mind that I am allergic to nuts",
        "save the number of the locksmith: 0171 5550",
        "don't forget that Ben takes no sugar",
        "schreib auf: Zählerstand 20411",
        "make a note, the roof was repaired in June",
        "anota que la llave está en el cajón",
        "recuerda que mi hijo mide 1,40",
        "note que le chat est chez le voisin",
        "souviens-toi que je suis allergique au lait",
        "ricorda che la chiave è in garage",
        "segna latte e uova sulla lista della spesa",
        "unutma, araba üçüncü katta",
        "onthoud dat oma in mei jarig is",
        "notiere Milch auf dem Einkaufszettel",
        "I tell you now so that you know it later: the PIN is 7741",
        "merk dir, dass der Müll dienstags kommt",
        "keep this for me: the frame is 40 by 60 cm",
        "save that my seat is 14C",
        "for later: the code of the shed is 5502",
        "put eggs on the list",
        "note that the gutters were cleaned today",
        "write this down: order number 3391",
        "jot this down, the meeting room is B12",
        "setz Kaffee auf die Einkaufsliste",
        "vergiss nicht, dass ich dienstags Tennis habe",
        "speichere die PIN 4410",
        "behalte, dass Papa keinen Käse mag",
        "Notiz: der Ölstand ist geprüft",
        "apunta pan en la lista de la compra",
        "guarda que el fontanero se llama Luis",
        "ajoute du lait à la liste de courses",
        "schrijf op dat de auto bij de garage staat",
        "add butter to the shopping list",
    ),
)
async def remember(note: str, home: Services) -> Result:
    """Write down a new fact or list for the user. Use it when told to remember, note or save something.

    note: the fact to keep, in the user's words
    """
    text, page = plain(" ".join(note.split()))
    if not text:
        return Result.error(say("There is nothing to note; say what to remember."))
    if len(text) > NOTE_LIMIT:
        pattern = "The note has {size:,} characters; at most {most:,} fit. Make it shorter."
        return Result.error(say(pattern, size=len(text), most=NOTE_LIMIT))
    try:
        kept = await home.notebook.add(text, page)
    except OSError as error:
        return Result.unavailable(say("I could not write it down: {why}", why=str(error)))
    paged = kept.page not in ("", COMMON_PAGE)
    pattern = 'Noted on the page {page}: "{note}"' if paged else 'Noted: "{note}"'
    return Result.ok(say(pattern, page=kept.page, note=kept.text))


def plain(said: str) -> tuple[str, str]:
    """What is to be noted of what was said, without the order to note it and without the list that it is to
    stand on; and that list, as it was called. What would leave nothing stays as it is."""
    text = ORDER.sub("", said) or said
    if found := LISTED.match(text) or LISTED_FIRST.match(text):
        named = found.groupdict()
        return named.pop("what"), next(name for name in named.values() if name)
    return text, ""
