"""Read a web page."""

from __future__ import annotations

from urllib.parse import urlsplit

from muleteer.tool import Document, Result, Services, tool


@tool(
    effect="read",
    network=True,
    timeout=40.0,
    craft="Copy the address exactly as it stands in the request, with everything after the slash.",
    examples=(
        "what does https://example.com say",
        "open example.org/news and tell me what is new",
        "fetch http://example.net/hours.txt",
        "abre https://example.com/noticias",
        "que dit la page example.fr/horaires",
        "leggi https://example.it/orari",
        "lies mir die Seite example.org/wetter vor",
        "was steht auf https://example.de",
        "what's on the page example.net/news",
        "show me http://example.com/status",
        "check whether https://example.org is up",
        "ruf example.com/fahrplan auf",
        "öffne www.example.net",
        "look at www.example.org for me",
    ),
)
async def http_get(url: str, home: Services) -> Result:
    """Read the web page at an address. Use it only when the user names a web address.

    url: the address, such as example.org/news
    """
    if not url.strip():
        return Result.error("There is no address to read; give one such as example.org.")
    try:
        page = await home.web.get(url)
    except FileNotFoundError as error:
        return Result.empty(str(error))
    except OSError as error:
        return Result.unavailable(str(error))
    except ValueError as error:
        return Result.error(str(error))
    host = urlsplit(page.url).hostname or url
    if not page.text and page.cut:
        return Result.unavailable(f"Only a part of the page at {host} could be read, and that holds no text.")
    if not page.text:
        return Result.empty(f"The page at {host} holds no text.")
    what = f'"{page.title}" at {host}' if page.title else f"the page at {host}"
    amount = f"the first {len(page.text):,}" if page.cut else f"{len(page.text):,}"
    return Result.ok(
        f"I read {what}: {amount} characters.", Document(page.title or page.url, page.text), (page.url,)
    )
