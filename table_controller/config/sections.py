"""The sections of `table.toml`: every key with its type, its default and its meaning.

The descriptions are the source of `pitbox config example`, `pitbox config schema` and docs/configuration.md. Paths are
relative to the file that names them.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from table_controller.rulebook import GAMES

# The games of this software; an unknown name is refused with the nearest one.
Game = Annotated[
    str,
    Meta(
        pattern=rf"^(?:{'|'.join(GAMES)})$",
        extra={"allowed": " or ".join(GAMES), "names": GAMES},
        extra_json_schema={"enum": list(GAMES)},
    ),
]
# Part of topics and file names.
Id = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$",
        extra={"allowed": "up to 32 of a-z, 0-9, - and _, starting with a letter or digit"},
    ),
]
Text = Annotated[
    str,
    Meta(
        pattern=r"^[^\x00-\x1f\x7f]+$",
        max_length=200,
        extra={"allowed": "a text in quotes, one line, not empty"},
    ),
]
Path_ = Annotated[str, Meta(min_length=1, max_length=1024, extra={"allowed": "a path"})]
Topic = Annotated[
    str,
    Meta(
        pattern=r"^[^+#/\x00-\x1f]+(/[^+#/\x00-\x1f]+)*$",
        max_length=200,
        extra={"allowed": "words separated by /, without + and #"},
    ),
]
TcpPort = Annotated[int, Meta(ge=1, le=65535)]
Megabytes = Annotated[int, Meta(ge=1, le=1_000_000)]


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of all sections: frozen, and without unknown keys."""


class SiteSection(Section, frozen=True):
    """The casino where the table is."""

    id: Annotated[Id, Meta(description="the site in topics and file names", examples=["riverside"])] = "site"
    name: Annotated[Text, Meta(description="the site as people call it", examples=["Riverside Hall"])] = "site"


class TableSection(Section, frozen=True):
    """The table itself."""

    name: Annotated[Text, Meta(description="the table as people call it", examples=["Table 7"])]
    game: Annotated[
        Game,
        Meta(
            description="the game; its chapter of the regulations is the edition in force", examples=["face_up_pai_gow"]
        ),
    ]
    approved: Annotated[Path_, Meta(description="the list of approved firmware", examples=["approved.toml"])]
    id: Annotated[
        Id | None,
        Meta(description="the table in topics and file names; by default made from its name", examples=["table-7"]),
    ] = None
    edition: Annotated[
        Text | None,
        Meta(
            description="the required date of the edition; a box with another edition does not start",
            examples=["rulemaking 125-223"],
        ),
    ] = None
    development: Annotated[
        bool,
        Meta(
            description="a bench or development table without players: it runs without an approval, and every page "
            "shows UNVERIFIED",
        ),
    ] = False


class DeviceSection(Section, frozen=True):
    """One slot: [device.KIND.NUMBER]; the number of a bet sensor is its seat."""

    port: Annotated[
        Text,
        Meta(
            description="/dev/…, rfc2217://…, socket://… or usb: with vendor, product and serial number",
            examples=["/dev/ttyUSB0"],
        ),
    ]
    key: Annotated[Path_, Meta(description="the key file of the enrolled device", examples=["keys/shuffler.1.key"])]
    maker: Annotated[
        Text | None, Meta(description="the maker of the machine, for receipts", examples=["Example Gaming"])
    ] = None


class DataSection(Section, frozen=True):
    """The folder for everything that the box must not lose."""

    folder: Annotated[Path_, Meta(description="journal, fault reports and captures; only one box may use it")] = (
        "/var/lib/pitbox"
    )


class JournalSection(Section, frozen=True):
    """How much of the journal is kept, and its second copy."""

    copy: Annotated[
        Path_ | None,
        Meta(
            description="the folder of the second copy, on another disk or mounted from another computer",
            examples=["/mnt/copy/journal"],
        ),
    ] = None
    keep_days: Annotated[
        Annotated[int, Meta(ge=1, le=36_500)] | None,
        Meta(description="closed segments are removed after this number of days", examples=[400]),
    ] = None
    keep_mb: Annotated[
        Megabytes | None,
        Meta(
            description="above this number of megabytes, closed segments are removed, oldest first", examples=[20_000]
        ),
    ] = None
    archive: Annotated[
        Path_ | None,
        Meta(description="the folder for removed segments; without it they are deleted", examples=["/mnt/archive"]),
    ] = None
    segment_mb: Annotated[int, Meta(ge=1, le=4096, description="a segment is closed at this number of megabytes")] = 64
    ballast_mb: Annotated[
        int, Meta(ge=0, le=4096, description="megabytes reserved so that a full disk can still be recorded; 0: none")
    ] = 16


class MqttSection(Section, frozen=True):
    """The MQTT broker. Without this section the box uses none."""

    host: Annotated[Text, Meta(description="the name or address of the broker", examples=["broker.example"])]
    port: Annotated[TcpPort | None, Meta(description="by default 8883 with TLS and 1883 without", examples=[8883])] = (
        None
    )
    prefix: Annotated[
        Topic, Meta(description="the start of every topic; the ids of the site and of the table follow")
    ] = "pitbox"
    client_id: Annotated[
        Text | None,
        Meta(
            description="the client id of the box at the broker; by default made from the ids of site and table",
            examples=["pitbox-riverside-table-7"],
        ),
    ] = None
    username: Annotated[
        Text | None,
        Meta(description="the user name at the broker; needs password_file", examples=["pitbox-riverside-table-7"]),
    ] = None
    password_file: Annotated[
        Path_ | None, Meta(description="a file with only the password; mode 0600", examples=["mqtt.password"])
    ] = None
    ca: Annotated[
        Path_ | None,
        Meta(
            description='turns TLS on: the trusted certificates, or "system" for those of the system',
            examples=["mqtt-ca.pem"],
        ),
    ] = None
    cert: Annotated[
        Path_ | None, Meta(description="the certificate of the box, if the broker requires one", examples=["mqtt.pem"])
    ] = None
    key: Annotated[
        Path_ | None, Meta(description="the key of the certificate of the box; mode 0600", examples=["mqtt.key"])
    ] = None
    keep_alive_s: Annotated[
        int,
        Meta(
            ge=5,
            le=3600,
            description="after 1.5 times this number of seconds without a sign of life the broker publishes the will",
        ),
    ] = 30
    in_flight: Annotated[
        int, Meta(ge=1, le=1000, description="the most events that may wait for the acknowledgment of the broker")
    ] = 20
    outbox_records: Annotated[
        int,
        Meta(
            ge=1000,
            le=100_000_000,
            description="when more records than this wait for the broker, the box raises an alarm; none is lost",
        ),
    ] = 1_000_000
    meters_every_s: Annotated[
        float, Meta(ge=0.1, le=3600, description="the shortest time in seconds between two publications of the meters")
    ] = 1.0
    health_every_s: Annotated[
        float,
        Meta(
            ge=1,
            le=3600,
            description="the time in seconds between publications of the health and the head of the journal",
        ),
    ] = 30.0


class PanelSection(Section, frozen=True):
    """The web pages for dealer, floorperson and technician."""

    enabled: Annotated[bool, Meta(description="whether the box serves the web pages")] = True
    listen: Annotated[
        Text, Meta(description="the address to listen on; every address except loopback needs cert and key")
    ] = "127.0.0.1"
    port: Annotated[TcpPort, Meta(description="the TCP port")] = 8080
    cert: Annotated[
        Path_ | None, Meta(description="turns TLS on: the certificate of the panel", examples=["panel.pem"])
    ] = None
    key: Annotated[
        Path_ | None, Meta(description="the key of the certificate of the panel; mode 0600", examples=["panel.key"])
    ] = None
    screens: Annotated[
        tuple[Text, ...],
        Meta(
            max_length=6,
            description="IP addresses of the screens of this table; connections are reserved for them",
            examples=[["10.4.7.21"]],
        ),
    ] = ()
    metrics_token_file: Annotated[
        Path_ | None,
        Meta(
            description="a file with the token that Prometheus on another computer needs to read /metrics; mode 0600",
            examples=["metrics.token"],
        ),
    ] = None


class ControlSection(Section, frozen=True):
    """The local socket through which every command reaches the running box."""

    socket: Annotated[
        Path_ | None,
        Meta(description="by default control.sock in the data folder", examples=["/run/pitbox/control.sock"]),
    ] = None
    group: Annotated[
        Text | None,
        Meta(
            description="a system group whose members may connect, in addition to the user of the box",
            examples=["users"],
        ),
    ] = None


class PeopleSection(Section, frozen=True):
    """Who may sign on, and when an unresolved irregularity is escalated."""

    file: Annotated[
        Path_ | None,
        Meta(description="the people file; by default people.json in the data folder", examples=["people.json"]),
    ] = None
    escalate_after_s: Annotated[
        int,
        Meta(
            ge=10,
            le=86_400,
            description="an irregularity that nobody clears is escalated each time this number of seconds passes",
        ),
    ] = 300


class DocumentsSection(Section, frozen=True):
    """What slips, receipts and reports print; the journal keeps it from each start on."""

    time_zone: Annotated[
        Annotated[
            str,
            Meta(
                pattern=r"^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$",
                max_length=64,
                extra={"allowed": "a time zone such as America/New_York"},
            ),
        ],
        Meta(description="the local time of the table on documents; UTC is always printed, too"),
    ] = "America/New_York"
    reporting_threshold_cents: Annotated[
        Annotated[int, Meta(ge=1, le=10**12)] | None,
        Meta(
            description="a hand pay of this amount in cents or more is marked for the tax form; by default none is",
            examples=[120_000],
        ),
    ] = None


# [rules] and [device] are read separately.
SECTIONS: Final[dict[str, type[Section]]] = {
    "site": SiteSection,
    "table": TableSection,
    "data": DataSection,
    "journal": JournalSection,
    "mqtt": MqttSection,
    "panel": PanelSection,
    "control": ControlSection,
    "people": PeopleSection,
    "documents": DocumentsSection,
}
RULES: Final = "rules"
DEVICE: Final = "device"
REQUIRED: Final = ("table", DEVICE)
SECTION_NAMES: Final = (
    "site",
    "table",
    RULES,
    DEVICE,
    "data",
    "journal",
    "mqtt",
    "panel",
    "control",
    "people",
    "documents",
)
# The choices of the certificate holder, as `rulebook.check_submission` expects them. [table] has the game and its
# edition.
RULE_MEANINGS: Final = {
    "dealing": "how cards are dealt",
    "start": "how the starting position is determined",
    "shuffler": "which automated shuffler is used",
    "shuffler_counts": "the shuffler reports the number of cards after each shuffle",
    "reshuffles": "the shuffler is approved to reshuffle without a command",
    "inserts_into_shoe": "the shuffler inserts its stack directly into the dealing shoe",
    "approved_procedure": "the approved procedure that replaces the section, for a device that reshuffles",
    "two_decks": "two decks or batches are used in alternation",
    "seats": "number of player positions",
    "wagers": "the optional wagers that the table offers",
    "paytables": "the paytable of each wager that has several",
    "progressive_rate_bp": "rate of progression in hundredths of a percent, if the text leaves it open",
    "payout_limit_cents": "the payout limit in cents",
    "least_wagers_cents": "the table minimums in cents; a payout limit depends on them",
    "most_wagers_cents": "the table maximums in cents, for wagers whose amount the player chooses",
    "adjacent_boxes": "how many adjacent boxes one player may play",
    "mid_shoe_entry_ban": "no mid-shoe entry",
    "face_check_rounds": "the faces of a deck are checked after this number of rounds",
    "start_marker": "a marker shows the starting position",
    "wheel_lowest_straight_flush": "A 2 3 4 5 is the lowest straight flush",
    "wheel_lowest_straight": "A 2 3 4 5 is the lowest straight",
    "folded_progressive": "a folded hand still plays the progressive",
    "house_way": "the named house way by which the dealer sets the dealer hand",
    "house_way_ranks": "ranks that the certificate holder chooses, if the house way has such a choice",
    "house_way_table": "a file with the certificate holder's own table of the house way, instead of the edition's",
    "posted_on_sign": "what the layout lacks and the /sign page of the panel shows: odds, payout_limit",
    "settings": "readings of unclear wordings, where the edition leaves a choice",
}
RULE_KEYS: Final = tuple(RULE_MEANINGS)
# Keys of earlier versions: full path -> full path of the key that replaced it. For a key of a device the path is,
# literally, device.KIND.NUMBER.key. A file with a former key is refused with the name of the new one.
FORMER_KEYS: Final[dict[str, str]] = {}
