"""Eighty tools of a stranger: what an assistant for a home and an office might bring.

One line each: name, description, parameters with their types; `?` marks those that are not required.
"""

from __future__ import annotations

from typing import Any

TABLE = """
get_weather | Get the current weather in a city. | city:string unit:celsius/fahrenheit?
get_forecast | Get the weather forecast for the coming days. | city:string days:integer
get_air_quality | Get the air quality index of a city. | city:string
get_sunrise | When the sun rises and sets. | city:string date:string?
send_email | Send an email. | to:string subject:string body:string
search_email | Search the mailbox. | query:string limit:integer?
archive_email | Move an email to the archive. | id:string
reply_email | Reply to an email. | id:string body:string
send_sms | Send a text message to a phone number. | number:string text:string
call_contact | Start a phone call. | name:string
create_contact | Add a person to the address book. | name:string phone:string? email:string?
find_contact | Look a person up in the address book. | name:string
create_event | Put an appointment into the calendar. | title:string date:string time:string minutes:integer?
list_events | List the appointments of a day. | date:string
delete_event | Remove an appointment. | id:string
move_event | Move an appointment to another time. | id:string date:string time:string
create_task | Add an item to the to-do list. | title:string due:string?
list_tasks | Show the to-do list. | state:open/done?
complete_task | Tick off an item of the to-do list. | id:string
create_note | Write a note. | title:string text:string
search_notes | Search in notes. | query:string
translate_text | Translate a text into another language. | text:string language:string
summarize_text | Summarize a long text. | text:string words:integer?
convert_currency | Convert an amount of money between currencies. | amount:number source:string target:string
get_stock_price | Get the price of a share. | symbol:string
get_exchange_rate | Get the exchange rate of two currencies. | base:string quote:string
transfer_money | Transfer money to an account. | iban:string amount:number reference:string?
list_transactions | List the last bookings of a bank account. | account:string limit:integer?
search_web | Search the web. | query:string
open_page | Read a web page. | url:string
search_images | Search for pictures on the web. | query:string
get_news | Get the latest headlines on a topic. | topic:string
get_definition | Look a word up in the dictionary. | word:string
search_recipes | Find recipes. | ingredients:strings diet:string?
order_groceries | Order groceries. | items:strings
track_parcel | Where a parcel is. | number:string
book_taxi | Order a taxi. | pickup:string destination:string time:string?
search_flights | Find flights. | origin:string destination:string date:string
book_hotel | Book a hotel room. | city:string checkin:string nights:integer
search_trains | Find train connections. | origin:string destination:string time:string?
get_directions | How to get from one place to another. | origin:string destination:string by:foot/car/bike?
find_restaurants | Find restaurants nearby. | cuisine:string place:string?
reserve_table | Reserve a table in a restaurant. | restaurant:string people:integer time:string
get_traffic | Get the traffic on a road. | road:string
turn_on_light | Switch a light on. | room:string
turn_off_light | Switch a light off. | room:string
dim_light | Set the brightness of a light in percent. | room:string percent:integer
set_light_color | Set the colour of a light. | room:string color:string
set_thermostat | Set the heating to a temperature. | room:string degrees:number
get_temperature | Measure the temperature in a room. | room:string
open_blinds | Open the blinds of a window. | room:string
close_blinds | Close the blinds of a window. | room:string
lock_door | Lock a door. | door:string
unlock_door | Unlock a door. | door:string
arm_alarm | Arm the burglar alarm. | mode:home/away
start_vacuum | Start the robot vacuum cleaner. | room:string?
start_washing | Start the washing machine. | program:string
get_energy_use | How much electricity was used. | period:day/week/month
play_music | Play a song, an artist or a playlist. | query:string
pause_music | Pause the music. |
set_volume | Set the volume in percent. | percent:integer
next_song | Skip to the next song. |
play_video | Play a film on the television. | title:string
record_show | Record a television show. | title:string channel:string?
set_alarm_clock | Set an alarm to wake up. | time:string
set_timer | Start a countdown. | minutes:integer
water_plants | Water the plants in the garden. | minutes:integer zone:string?
feed_pet | Let the feeder give food to a pet. | grams:integer
get_camera_picture | Take a picture with a camera. | camera:string
print_document | Print a document. | file:string copies:integer?
scan_document | Scan a document. | name:string
list_files | List the files of a folder. | folder:string
read_text_file | Read a file. | path:string
delete_file | Delete a file. | path:string
run_backup | Start a backup. | target:string
restart_router | Restart the internet router. |
get_disk_space | How much room is left on a disk. | disk:string
generate_password | Make a password. | length:integer
solve_equation | Solve an equation. | equation:string
get_holidays | List the public holidays of a country. | country:string year:integer
"""
KINDS: dict[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "strings": {"type": "array", "items": {"type": "string"}},
}


def tools() -> list[Any]:
    """All of them, in OpenAI's form."""
    return [_tool(*(part.strip() for part in line.split("|"))) for line in TABLE.strip().splitlines()]


def _tool(name: str, description: str, parameters: str) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for each in parameters.split():
        key, _, kind = each.rstrip("?").partition(":")
        properties[key] = KINDS.get(kind) or {"type": "string", "enum": kind.split("/")}
        required += [] if each.endswith("?") else [key]
    schema = {"type": "object", "properties": properties, "required": required}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}
