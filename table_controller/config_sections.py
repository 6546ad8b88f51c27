"""The sections of `table.toml`: every key with its type, its default and what it means. Nothing is read here.

The descriptions are the one source of `pitbox config example`, `pitbox config schema` and docs/configuration.md. Paths
are relative to the file that names them.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

Game = Literal["asia_poker", "saigon_5_card", "over_under", "dj_wild", "face_up_pai_gow"]
# Stands in topics and file names, so it is short and plain.
Id = Annotated[
    str,
    Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$", extra={"allowed": "up to 32 of a-z, 0-9, - and _, the first no sign"}),
]
Text = Annotated[
    str,
    Meta(
        pattern=r"^[^\x00-\x1f\x7f]+$",
        max_length=200,
        extra={"allowed": "a text in quotes, of one line and not empty"},
    ),
]
Path_ = Annotated[str, Meta(min_length=1, max_length=1024, extra={"allowed": "a path"})]
Topic = Annotated[
    str,
    Meta(
        pattern=r"^[^+#/\x00-\x1f]+(/[^+#/\x00-\x1f]+)*$",
        max_length=200,
        extra={"allowed": "words with / between them, without + and #"},
    ),
]
TcpPort = Annotated[int, Meta(ge=1, le=65535)]
Megabytes = Annotated[int, Meta(ge=1, le=1_000_000)]


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What every section is: frozen, and without room for a key that nobody knows."""


class Site(Section, frozen=True):
    """Whose floor the table stands on."""

    id: Annotated[Id, Meta(description="the site in topics and file names", examples=["riverside"])] = "site"
    name: Annotated[Text, Meta(description="the site as people call it", examples=["Riverside Hall"])] = "site"


class Table(Section, frozen=True):
    """The table itself."""

    name: Annotated[Text, Meta(description="the table as people call it", examples=["Table 7"])]
    game: Annotated[
        Game,
        Meta(description="which game is played; its chapter is the edition in force", examples=["face_up_pai_gow"]),
    ]
    approved: Annotated[Path_, Meta(description="the list of approved firmware", examples=["approved.toml"])]
    id: Annotated[
        Id | None,
        Meta(description="the table in topics and file names; unless told, made of its name", examples=["table-7"]),
    ] = None
    edition: Annotated[
        Text | None,
        Meta(
            description="the dated text that is meant; a box with another one does not start",
            examples=["rulemaking 125-223"],
        ),
    ] = None
    development: Annotated[
        bool,
        Meta(
            description="a bench or development table without players: it runs software that nobody approved, and "
            "every page shows UNVERIFIED",
        ),
    ] = False


class Device(Section, frozen=True):
    """One slot: [device.KIND.NUMBER]; the number of a bet sensor is its seat."""

    port: Annotated[
        Text,
        Meta(
            description="/dev/…, rfc2217://…, socket://… or usb: with vendor, product and serial number",
            examples=["/dev/ttyUSB0"],
        ),
    ]
    key: Annotated[
        Path_, Meta(description="the key file of the device that is enrolled here", examples=["keys/shuffler.1.key"])
    ]


class Data(Section, frozen=True):
    """Where the box keeps what it must not lose."""

    folder: Annotated[Path_, Meta(description="journal, dossiers and captures; one box at a time")] = "/var/lib/pitbox"


class Journal(Section, frozen=True):
    """How much of the journal is kept, and its second copy."""

    copy: Annotated[
        Path_ | None,
        Meta(
            description="the second copy's folder, on another disk or mounted from another host",
            examples=["/mnt/copy/journal"],
        ),
    ] = None
    keep_days: Annotated[
        Annotated[int, Meta(ge=1, le=36_500)] | None,
        Meta(description="closed segments leave after so many days", examples=[400]),
    ] = None
    keep_mb: Annotated[
        Megabytes | None,
        Meta(description="closed segments leave, oldest first, above so many megabytes", examples=[20_000]),
    ] = None
    archive: Annotated[
        Path_ | None, Meta(description="the folder where segments go that leave; none: away", examples=["/mnt/archive"])
    ] = None
    segment_mb: Annotated[int, Meta(ge=1, le=4096, description="a segment is closed at so many megabytes")] = 64
    ballast_mb: Annotated[
        int, Meta(ge=0, le=4096, description="megabytes kept free for the day that the disk is full; 0: none")
    ] = 16


class Mqtt(Section, frozen=True):
    """The broker. Without this section there is none, and none is needed."""

    host: Annotated[Text, Meta(description="the broker's name or address", examples=["broker.example"])]
    port: Annotated[
        TcpPort | None, Meta(description="unless told, 8883 with TLS and 1883 without", examples=[8883])
    ] = None
    prefix: Annotated[Topic, Meta(description="topics begin with it; the site's and the table's id follow")] = "pitbox"
    client_id: Annotated[
        Text | None,
        Meta(
            description="who we are to the broker; unless told, made of the site's and the table's id",
            examples=["pitbox-riverside-table-7"],
        ),
    ] = None
    username: Annotated[
        Text | None, Meta(description="with password_file: how we log in", examples=["pitbox-riverside-table-7"])
    ] = None
    password_file: Annotated[
        Path_ | None, Meta(description="holds the password and nothing else; mode 0600", examples=["mqtt.password"])
    ] = None
    ca: Annotated[
        Path_ | None,
        Meta(
            description='turns TLS on: the certificates that we trust, or "system" for those of the system',
            examples=["mqtt-ca.pem"],
        ),
    ] = None
    cert: Annotated[
        Path_ | None, Meta(description="our own certificate, where the broker asks for one", examples=["mqtt.pem"])
    ] = None
    key: Annotated[
        Path_ | None, Meta(description="the key of our own certificate; mode 0600", examples=["mqtt.key"])
    ] = None
    keep_alive_s: Annotated[
        int, Meta(ge=5, le=3600, description="after one and a half times so many silent seconds the will is published")
    ] = 30
    in_flight: Annotated[
        int, Meta(ge=1, le=1000, description="events that may be under way without the broker's acknowledgement")
    ] = 20
    outbox_records: Annotated[
        int,
        Meta(
            ge=1000,
            le=100_000_000,
            description="so many records may wait for the broker; beyond that it is alarmed, and none is lost",
        ),
    ] = 1_000_000
    meters_every_s: Annotated[
        float, Meta(ge=0.1, le=3600, description="meters are published at most once in so many seconds")
    ] = 1.0
    health_every_s: Annotated[
        float, Meta(ge=1, le=3600, description="health and the journal's head are published once in so many seconds")
    ] = 30.0


class Panel(Section, frozen=True):
    """The web pages of dealer, floorperson and technician."""

    enabled: Annotated[bool, Meta(description="whether the box serves them")] = True
    listen: Annotated[
        Text, Meta(description="the address to listen on; any but a loopback address needs cert and key")
    ] = "127.0.0.1"
    port: Annotated[TcpPort, Meta(description="the TCP port")] = 8080
    cert: Annotated[Path_ | None, Meta(description="turns TLS on: the panel's certificate", examples=["panel.pem"])] = (
        None
    )
    key: Annotated[
        Path_ | None, Meta(description="the key of the panel's certificate; mode 0600", examples=["panel.key"])
    ] = None
    screens: Annotated[
        tuple[Text, ...],
        Meta(
            max_length=6,
            description="IP addresses of the table's own screens; places are kept for them however many connect",
            examples=[["10.4.7.21"]],
        ),
    ] = ()
    metrics_token_file: Annotated[
        Path_ | None,
        Meta(
            description="holds the token by which Prometheus on another computer reads /metrics; mode 0600",
            examples=["metrics.token"],
        ),
    ] = None


class Control(Section, frozen=True):
    """The local socket by which every command talks to the running box."""

    socket: Annotated[
        Path_ | None,
        Meta(description="unless told, control.sock in the data folder", examples=["/run/pitbox/control.sock"]),
    ] = None
    group: Annotated[
        Text | None,
        Meta(
            description="a group of the system whose members may connect, besides the box's own user",
            examples=["users"],
        ),
    ] = None


class People(Section, frozen=True):
    """Who may sign on, and how long they may let an irregularity wait."""

    file: Annotated[
        Path_ | None,
        Meta(description="the people file; unless told, people.json in the data folder", examples=["people.json"]),
    ] = None
    escalate_after_s: Annotated[
        int,
        Meta(
            ge=10,
            le=86_400,
            description="an irregularity that nobody clears is escalated after so many seconds, and again each time",
        ),
    ] = 300


# In the order in which a person would write them. [rules] and [device] have shapes of their own.
SECTIONS: Final[dict[str, type[Section]]] = {
    "site": Site,
    "table": Table,
    "data": Data,
    "journal": Journal,
    "mqtt": Mqtt,
    "panel": Panel,
    "control": Control,
    "people": People,
}
RULES: Final = "rules"
DEVICE: Final = "device"
REQUIRED: Final = ("table", DEVICE)
KNOWN: Final = ("site", "table", RULES, DEVICE, "data", "journal", "mqtt", "panel", "control", "people")
# The choices of the certificate holder, as `rulebook.check_submission` takes them. The game and its edition are said in
# [table], and warnings are worked out.
RULES_MEAN: Final = {
    "dealing": "how cards are dealt",
    "start": "how the starting position is found",
    "shuffler": "which automated shuffler is used",
    "shuffler_counts": "the shuffler reports the number of cards after each shuffle",
    "reshuffles": "the shuffler is approved to reshuffle by itself",
    "approved_procedure": "the approved procedure that replaces the section, for a device that reshuffles",
    "two_decks": "a second deck or batch in alternation",
    "seats": "places for players",
    "wagers": "the optional wagers that are offered",
    "paytables": "the paytable of each wager that has several",
    "progressive_rate_bp": "rate of progression in hundredths of a percent, where the text leaves it open",
    "payout_limit_cents": "the payout limit in cents",
    "least_wagers_cents": "the table's least wagers in cents; a payout limit is measured by them",
    "adjacent_boxes": "how many adjacent boxes one player may play",
    "mid_shoe_entry_ban": "nobody enters in the middle of a shoe",
    "face_check_rounds": "after so many rounds a deck's faces are looked at",
    "start_marker": "a marker shows the starting position",
    "wheel_lowest_straight_flush": "A 2 3 4 5 is the lowest straight flush",
    "wheel_lowest_straight": "A 2 3 4 5 is the lowest straight",
    "folded_progressive": "a folded hand still plays the progressive",
    "house_way": "the named policy by which the dealer sets his hands",
    "house_way_ranks": "the certificate holder's own ranks, where the policy turns on one",
    "settings": "how unclear wordings are read, where the edition leaves a choice",
}
RULE_KEYS: Final = tuple(RULES_MEAN)
