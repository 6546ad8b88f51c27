"""The exceptions of pitbox, grouped by who must act, each with a stable number. `catalogue.toml` has their texts."""

from __future__ import annotations

from typing import ClassVar


class PitboxError(Exception):
    """Base of all errors that pitbox reports to people; `pitbox explain CODE` prints what to do."""

    number: ClassVar[int] = 100

    @property
    def code(self) -> str:
        """The code as shown to people, for example PB-112."""
        return code_of(self.number)


def code_of(number: int) -> str:
    """Return an error number as shown to people."""
    return f"PB-{number}"


# --- the link: look at the port, the cable, the power -------------------------------------------------------


class LinkError(PitboxError):
    """The connection to a device does not work."""

    number = 110


class PortMissing(LinkError):
    """No such port, or nothing answers at its address."""

    number = 111


class PortBusy(LinkError):
    """Another program uses the port."""

    number = 112


class PortFailed(LinkError):
    """The port was open and then failed: unplugged, or an input/output error."""

    number = 113


class LinkSilent(LinkError):
    """Nothing valid was received from the other end for too long."""

    number = 114


class SessionLost(LinkError):
    """The other end no longer knows our session, as after a reboot."""

    number = 115


class LinkUnsteady(LinkError):
    """The link keeps dropping: it must stay up for a while before the table counts the device as present."""

    number = 726


class LinkClosed(LinkError):
    """We closed the link ourselves."""

    number = 116


class ReplyTimeout(LinkError):
    """The link is up, but the reply to one request did not come in time."""

    number = 117


class QueueFull(LinkError):
    """The outgoing queue of a device is full. The message was not sent."""

    number = 118


class NotSent(LinkError):
    """The link went down before the message left the queue. It certainly had no effect."""

    number = 119


class SessionExhausted(LinkError):
    """The session's frame counter is used up; a new handshake opens a new session."""

    number = 120


class DuplicateSerial(LinkError):
    """Two connected devices report the same serial number; neither is used."""

    number = 121


# --- the protocol: the firmware or our software is wrong ---------------------------------------------------


class ProtocolError(PitboxError):
    """The other end sent something that the protocol does not allow."""

    number = 210


class BadMessage(ProtocolError):
    """An authentic frame whose payload is not a valid message for this direction."""

    number = 211


# --- trust: never in service until a person has looked -----------------------------------------------------


class TrustError(PitboxError):
    """A device did not prove that it is the one this table expects."""

    number = 310


class WrongKey(TrustError):
    """The device could not prove that it holds the key of its serial number."""

    number = 311


class UnknownSerial(TrustError):
    """No key is known for this serial number."""

    number = 312


class FirmwareNotApproved(TrustError):
    """The device's firmware is not on the approved list."""

    number = 313


class WrongKind(TrustError):
    """Another kind of machine answers at this port."""

    number = 314


class HostRefused(TrustError):
    """The device did not accept our proof of the key."""

    number = 315


class EnrolledKey(TrustError):
    """A bench command was given the key of a device that is enrolled at a table."""

    number = 316


class SoftwareNotApproved(TrustError):
    """The running software, or its configuration, is not what the box's manifest lists."""

    number = 317


class NoManifest(TrustError):
    """There is no manifest that two people approved, so the software cannot be checked against it."""

    number = 319


class KeyRevoked(TrustError):
    """A device's key was revoked when another device took its slot."""

    number = 318


class DeviceChangeRefused(TrustError):
    """Two people signed for other devices at a table, and the change is not allowed."""

    number = 322


class CapabilityMissing(TrustError):
    """The device's model cannot do what the rules of this table need."""

    number = 323


class CredentialRefused(TrustError):
    """A person's credential is not valid, or the PIN is wrong; the text does not reveal which."""

    number = 320


class TryLater(CredentialRefused):
    """A credential is blocked after wrong PINs, for `seconds`."""

    number = 321

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


# --- the device: go to the machine -------------------------------------------------------------------------


class DeviceFault(PitboxError):
    """A machine reports that it cannot continue, or refuses a command. `reason` is its error number."""

    number = 410

    def __init__(self, message: str, reason: int) -> None:
        super().__init__(message)
        self.reason = reason

    @property
    def code(self) -> str:
        """The code of the device's own reason."""
        return code_of(self.reason)


class CommandRefused(DeviceFault):
    """The device refused a command; nothing moved."""

    number = 411


class CommandFailed(DeviceFault):
    """The device began a command and could not finish it."""

    number = 412


class CommandIdReused(DeviceFault):
    """A command came with the id of another one; nothing moved."""

    number = 413


class NotCapable(PitboxError):
    """The device's model cannot do what was asked; nothing was sent."""

    number = 428


class NotInService(PitboxError):
    """A device is connected and has proved its identity, but is not in service."""

    number = 414


class SeatUndecided(PitboxError):
    """It is unknown whether a seat had a bet when bets were locked; a person decides."""

    number = 480

    def __init__(self, message: str, seat: int) -> None:
        super().__init__(message)
        self.seat = seat


class StalePress(PitboxError):
    """A key press is too old to act on, or its age is unknown."""

    number = 493


# --- outcome unknown: ask the device, never repeat blindly -------------------------------------------------


class OutcomeUnknown(PitboxError):
    """A command was sent and its outcome is unknown."""

    number = 510

    def __init__(self, message: str, command: int) -> None:
        super().__init__(message)
        self.command = command


class Revoked(PitboxError):
    """A queued command was canceled before it was sent, because a stop overtook it. It had no effect."""

    number = 511


# --- configuration and input: change what was typed --------------------------------------------------------


class ConfigurationError(PitboxError):
    """Something that a person typed or configured cannot be used."""

    number = 610


class BadPort(ConfigurationError):
    """A port's address is not one that pitbox understands."""

    number = 611


class BadKeyFile(ConfigurationError):
    """A key file is missing, readable by others, or does not contain a key."""

    number = 612


class BadFault(ConfigurationError):
    """A fault to inject is not in the vocabulary, or its details do not fit."""

    number = 613


class BadApprovedList(ConfigurationError):
    """The list of approved firmware cannot be read."""

    number = 614


class SimulatorNotFound(ConfigurationError):
    """No running simulator has this name."""

    number = 615


class BadCapture(ConfigurationError):
    """A file that should be a capture of frames is not one, or is damaged in the middle."""

    number = 616


class BadConfiguration(ConfigurationError):
    """A table's configuration cannot be used."""

    number = 617


class SerialClaimedTwice(ConfigurationError):
    """Two devices claim the same serial number; it is unknown which one is enrolled."""

    number = 618


class BadSubmission(ConfigurationError):
    """A Rules Submission asks for what the edition does not permit, or leaves out what it demands."""

    number = 619

    def __init__(self, objections: tuple[str, ...]) -> None:
        super().__init__("; ".join(objections))
        self.objections = objections


class BadHouseWay(ConfigurationError):
    """The certificate holder's own table of the house way cannot be read, or does not set every hand lawfully."""

    number = 625

    def __init__(self, objections: tuple[str, ...]) -> None:
        super().__init__("; ".join(objections))
        self.objections = objections


class BadRulebook(ConfigurationError):
    """The rulebook's own data contradicts itself or is damaged."""

    number = 620


class BadHand(ConfigurationError):
    """The cards of a hand, their setting, or the wagers on them are impossible as entered."""

    number = 621


class NoSuchDocument(ConfigurationError):
    """The journal does not have the named document."""

    number = 623


class BadDocumentKey(ConfigurationError):
    """What was named cannot be the number of a slip or of a hold."""

    number = 624


class BadPeopleFile(ConfigurationError):
    """The people file is missing, accessible to other users, or damaged."""

    number = 622


class BadCredential(ConfigurationError):
    """A credential cannot be added or changed as it was entered. Nothing was changed."""

    number = 632


class BadFaultReport(ConfigurationError):
    """There is no such fault report, or its file is damaged."""

    number = 630


class StepRefused(ConfigurationError):
    """A step of the return to service cannot be completed: an earlier step is open, or its evidence is missing."""

    number = 631


# --- the journal: the box's own disk -------------------------------------------------------------------------


class JournalError(PitboxError):
    """The journal cannot be used; nothing that needs a record may happen without it."""

    number = 710


class JournalBusy(JournalError):
    """Another process writes this journal."""

    number = 711


class JournalNewer(JournalError):
    """The journal was written by newer software; it was not changed."""

    number = 712


class JournalDamaged(JournalError):
    """The journal was changed or damaged. `bad` is the first bad record, if known."""

    number = 713

    def __init__(self, message: str, bad: int | None = None) -> None:
        super().__init__(message)
        self.bad = bad


class JournalShort(JournalError):
    """Acknowledged records are missing: the journal's end is lost, or an older file replaced it."""

    number = 714


class JournalForeign(JournalError):
    """A file in the journal's folder belongs to another journal."""

    number = 715


class DiskFull(JournalError):
    """The journal's disk is full. Acknowledged records are safe; refused ones had no effect."""

    number = 716


class DiskReadOnly(JournalError):
    """The journal's disk or folder cannot be written."""

    number = 717


class DiskFailed(JournalError):
    """The journal's disk failed or is too slow; it is unknown whether the last records are stored."""

    number = 718


class JournalFailed(JournalError):
    """The journal failed earlier and accepts no records until the box is restarted."""

    number = 719


class CopyDiverged(JournalError):
    """The second copy has a different history than this journal."""

    number = 720


class CopyUnreachable(JournalError):
    """The folder of the second copy is missing, or cannot be read or written."""

    number = 721


class RestoreRefused(JournalError):
    """A journal can only be restored into an empty folder, from a copy that verifies."""

    number = 722


class JournalGone(JournalError):
    """This table's journal is missing, although there was one before."""

    number = 723


class CopyTakenOver(JournalError):
    """The second copy was restored into another box, which now runs this table; this box stays locked."""

    number = 724


class CopyCorrupted(JournalError):
    """A record in the second copy changed after it was acknowledged: its disk or memory fails."""

    number = 725


# --- recovery: the journal holds, and cannot be taken ---------------------------------------------------------


class ReplayDiffers(JournalError):
    """Replaying the journal gave other decisions than the recorded ones: the software has changed."""

    number = 730


class VersionsDiffer(JournalError):
    """The journal was written with other software, edition or configuration, and there is no migration from it."""

    number = 731


class RecordUnreadable(JournalError):
    """A record is intact, but this software does not know its content."""

    number = 732


# --- the box itself: errors of its clients -----------------------------------------------------------------------


class BoxError(PitboxError):
    """A running box did not do what was requested."""

    number = 810


class NoBox(BoxError):
    """No box answers at its control socket."""

    number = 811


class BoxAlreadyRunning(BoxError):
    """Another box uses this data folder."""

    number = 812


class NotAllowed(BoxError):
    """The requester is not allowed to do this: not signed on, wrong role, or unknown to this computer."""

    number = 813


class ChangeNotAuthorized(NotAllowed):
    """No person who is allowed to add or change credentials signed for it. Nothing was changed."""

    number = 633


class BadRequest(BoxError):
    """A request of a page or on the control socket is malformed. Nothing was done."""

    number = 814


class BoxLocked(BoxError):
    """The box is locked: it shows why, keeps every machine stopped, and accepts nothing else."""

    number = 815


class DataFolderUnusable(BoxError):
    """The data folder is missing, or cannot be written."""

    number = 816


class BoxFailed(BoxError):
    """The table's software failed in a step; all motion was stopped and all bets were locked."""

    number = 817


class PanelNotServed(BoxError):
    """The panel cannot listen on its address; the table runs without its pages."""

    number = 818


class QuestionClosed(BoxError):
    """A request answers a question that is not open: somebody answered it, or it is not asked any more."""

    number = 819


class RecordLate(BoxError):
    """A request was submitted, and its record did not reach the disk in time. It may still be recorded."""

    number = 820


# --- the uplink: the broker, its network, its certificates; the table plays on ----------------------------------


class UplinkError(PitboxError):
    """The connection to the MQTT broker does not work. Play continues; unsent records wait in the journal."""

    number = 830


class BrokerUnreachable(UplinkError):
    """Nothing answers at the broker's address."""

    number = 831


class BrokerRefused(UplinkError):
    """The broker refused the connection: user name, password, client id, or its limits."""

    number = 832


class BrokerUntrusted(UplinkError):
    """A certificate was rejected: the broker's by the box, or the box's by the broker."""

    number = 833


class BrokerSilent(UplinkError):
    """The broker accepted a connection or a message and did not answer in time."""

    number = 834


class BrokerDenied(UplinkError):
    """The broker accepted the connection, and refuses to publish: its ACL, or its limits."""

    number = 835


class BrokerLost(UplinkError):
    """The connection to the broker was lost."""

    number = 836


class OutboxTooLong(UplinkError):
    """More records wait for the broker than planned. None is lost."""

    number = 837


class HistoryDiffers(UplinkError):
    """A record that the broker acknowledged is not in this journal: the journal was set back or changed."""

    number = 838


# --- what surrounds a box: certificates, the computer's limits, what was typed -----------------------------------


class CertificateExpired(PitboxError):
    """A certificate that the box uses has expired."""

    number = 850


class CertificateExpiresSoon(PitboxError):
    """A certificate that the box uses expires within 30 days."""

    number = 851


class CertificateNotYetValid(PitboxError):
    """A certificate begins later than the computer's clock shows."""

    number = 852


class BadCertificate(ConfigurationError):
    """A file contains no certificate, or one that cannot be read."""

    number = 853


class HeadNotPublished(PitboxError):
    """The head of the journal is not published outside this computer."""

    number = 854


class FolderNotWritable(PitboxError):
    """The box may not write to a folder that its configuration names."""

    number = 855


class UsageError(ConfigurationError):
    """A command line is malformed."""

    number = 856
