"""The exception tree, split by who must act, each with its stable number. The catalogue of texts is not here."""

from __future__ import annotations

from typing import ClassVar


class PitboxError(Exception):
    """Anything that pitbox reports to a person; `code` is stable and `pitbox explain CODE` tells what to do."""

    number: ClassVar[int] = 100

    @property
    def code(self) -> str:
        """The code as people see it, for example PB-112."""
        return code_of(self.number)


def code_of(number: int) -> str:
    """Return a number from the wire or the tree as people see it."""
    return f"PB-{number}"


# --- the link: look at the port, the cable, the power -------------------------------------------------------


class LinkError(PitboxError):
    """The way to a device does not work."""

    number = 110


class PortMissing(LinkError):
    """No such port, or nothing answers at its address."""

    number = 111


class PortBusy(LinkError):
    """Another program holds the port."""

    number = 112


class PortFailed(LinkError):
    """The port was open and then failed: unplugged, or an input/output error."""

    number = 113


class LinkSilent(LinkError):
    """Nothing valid was heard from the other end for too long."""

    number = 114


class SessionLost(LinkError):
    """The other end no longer knows our session, as after a reboot."""

    number = 115


class LinkUnsteady(LinkError):
    """The link falls again and again: it must hold for a while before the table counts the device as there."""

    number = 726


class LinkClosed(LinkError):
    """We closed the link ourselves."""

    number = 116


class ReplyTimeout(LinkError):
    """The link lives, but the answer to one question did not come in time."""

    number = 117


class QueueFull(LinkError):
    """More was asked of a device than it takes: the bounded outgoing queue is full. Nothing was sent."""

    number = 118


class NotSent(LinkError):
    """The link went down before the message left the queue. It certainly had no effect."""

    number = 119


class SessionWornOut(LinkError):
    """The session's frame counter reached its end; a new handshake gives a new session."""

    number = 120


class DuplicateSerial(LinkError):
    """Two devices that are plugged in call themselves by one serial number; neither is used."""

    number = 121


# --- the protocol: the firmware or our software is wrong ---------------------------------------------------


class ProtocolError(PitboxError):
    """The other end said something that the protocol does not allow."""

    number = 210


class BadMessage(ProtocolError):
    """An authentic frame whose payload is not a message that may come from there."""

    number = 211


# --- trust: never in service until a person has looked -----------------------------------------------------


class TrustError(PitboxError):
    """A device did not prove to be what this table expects."""

    number = 310


class WrongKey(TrustError):
    """The device could not prove that it holds the key of its serial number."""

    number = 311


class UnknownSerial(TrustError):
    """No key is known for this serial number."""

    number = 312


class FirmwareNotApproved(TrustError):
    """The firmware that the device names is not on the approved list."""

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
    """The software that runs, or what it was told to do, is not what the box's manifest names."""

    number = 317


class NoManifest(TrustError):
    """No manifest that two people approved: nobody can tell whether this is the software that may run."""

    number = 319


class KeyRevoked(TrustError):
    """A device's key was revoked when another device took its slot."""

    number = 318


class DeviceChangeRefused(TrustError):
    """Two people would accept other devices for a table, and something is against that."""

    number = 322


class CredentialRefused(TrustError):
    """A person's credential is not valid, or the PIN is wrong; which of both is not said."""

    number = 320


class TryLater(CredentialRefused):
    """A credential waits after wrong PINs. `seconds` is how long; the right PIN is taken after that."""

    number = 321

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


# --- the device: go to the machine -------------------------------------------------------------------------


class DeviceFault(PitboxError):
    """A machine reports that it cannot go on, or will not do what was asked. `reason` is its number."""

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
    """A device answers and has proved who it is, but may not serve as it is."""

    number = 414


class SeatUndecided(PitboxError):
    """Nobody knows whether a seat had a bet when bets were locked; a person decides, nothing is assumed."""

    number = 480

    def __init__(self, message: str, seat: int) -> None:
        super().__init__(message)
        self.seat = seat


class StalePress(PitboxError):
    """A press on the keypad is too old to mean anything, or nobody can tell how old it is."""

    number = 493


# --- outcome unknown: ask the device, never repeat blindly -------------------------------------------------


class OutcomeUnknown(PitboxError):
    """An actuation was sent and nobody knows whether it happened."""

    number = 510

    def __init__(self, message: str, command: int) -> None:
        super().__init__(message)
        self.command = command


class Revoked(PitboxError):
    """A queued command was taken back before it was sent, because a stop overtook it. It had no effect."""

    number = 511


# --- configuration and input: change what was typed --------------------------------------------------------


class ConfigurationError(PitboxError):
    """Something that a person wrote cannot be used as it stands."""

    number = 610


class BadPort(ConfigurationError):
    """A port's address is not one that pitbox understands."""

    number = 611


class BadKeyFile(ConfigurationError):
    """A key file is missing, readable by others, or does not hold a key."""

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
    """A table's configuration cannot be used as it stands."""

    number = 617


class SerialTwice(ConfigurationError):
    """Two devices claim one serial number; which is the enrolled one, nobody can say."""

    number = 618


class BadSubmission(ConfigurationError):
    """A Rules Submission asks for what the edition does not permit, or leaves out what it demands."""

    number = 619

    def __init__(self, objections: tuple[str, ...]) -> None:
        super().__init__("; ".join(objections))
        self.objections = objections


class BadRulebook(ConfigurationError):
    """The rulebook's own data contradicts itself or is damaged."""

    number = 620


class BadHand(ConfigurationError):
    """Cards, their setting or the wagers on them cannot be as they were told."""

    number = 621


class BadPeopleFile(ConfigurationError):
    """The people file is missing, open to others, or damaged."""

    number = 622


class BadCredential(ConfigurationError):
    """A credential cannot be added or changed as it was entered. Nothing was changed."""

    number = 632


class BadDossier(ConfigurationError):
    """There is no such dossier, or its file is damaged."""

    number = 630


class StepRefused(ConfigurationError):
    """A step of the way back to service cannot be ticked: its turn has not come, or its evidence is missing."""

    number = 631


# --- the journal: the box's own disk -------------------------------------------------------------------------


class JournalError(PitboxError):
    """The journal cannot be used; without it nothing that needs a record may happen."""

    number = 710


class JournalBusy(JournalError):
    """Another process writes this journal."""

    number = 711


class JournalNewer(JournalError):
    """The journal was written by newer software; nothing in it was touched."""

    number = 712


class JournalDamaged(JournalError):
    """Something in the journal is not what was written. `bad` is the first bad record, where one can be named."""

    number = 713

    def __init__(self, message: str, bad: int | None = None) -> None:
        super().__init__(message)
        self.bad = bad


class JournalShort(JournalError):
    """Records that were acknowledged are not in the journal: its end is lost, or an older file lies in its place."""

    number = 714


class JournalForeign(JournalError):
    """A file in the journal's folder belongs to another journal."""

    number = 715


class DiskFull(JournalError):
    """The journal's disk has no room left. What was acknowledged is safe; what was refused had no effect."""

    number = 716


class DiskReadOnly(JournalError):
    """The journal's disk or folder cannot be written."""

    number = 717


class DiskFailed(JournalError):
    """The journal's disk gave an error, or does not keep up; nobody knows whether the last records are on it."""

    number = 718


class JournalFailed(JournalError):
    """The journal failed earlier and takes nothing more until the box is restarted."""

    number = 719


class CopyDiverged(JournalError):
    """The second copy holds another history than this journal."""

    number = 720


class CopyUnreachable(JournalError):
    """The second copy's folder is not there, or cannot be written or read."""

    number = 721


class RestoreRefused(JournalError):
    """A journal can only be restored into an empty folder, from a copy that verifies."""

    number = 722


class JournalGone(JournalError):
    """There is no journal where this table's should be, and something remembers that there was one."""

    number = 723


class CopyTakenOver(JournalError):
    """The second copy was restored into another box: that box has this table, and this one opens nothing any more."""

    number = 724


class CopyRotten(JournalError):
    """A record that the second copy acknowledged is not there any more as it was written: its disk or memory fails."""

    number = 725


# --- recovery: the journal holds, and cannot be taken ---------------------------------------------------------


class ReplayDiffers(JournalError):
    """Replaying the journal gave other decisions than were recorded: the software is not what it was."""

    number = 730


class VersionsDiffer(JournalError):
    """The journal was written with other software, edition or configuration, and no migration leads here from there."""

    number = 731


class RecordUnreadable(JournalError):
    """A record's place in the chain is right and its content is nothing that this software knows."""

    number = 732


# --- the box itself: whoever talks to a running one --------------------------------------------------------------


class BoxError(PitboxError):
    """A running box does not do what was asked of it."""

    number = 810


class NoBox(BoxError):
    """No box answers at its control socket."""

    number = 811


class BoxRuns(BoxError):
    """Another box uses this data folder."""

    number = 812


class NotAllowed(BoxError):
    """Whoever asks may not: not signed on, in another role, or unknown to this computer."""

    number = 813


class ChangeNotAuthorized(NotAllowed):
    """A credential was to be added or changed without a person who may do that. Nothing was changed."""

    number = 633


class BadRequest(BoxError):
    """What came over the control socket is no request that a box understands. Nothing was done."""

    number = 814


class BoxLocked(BoxError):
    """The box is locked: it shows why, keeps every machine still, and takes nothing else."""

    number = 815


class DataFolderUnusable(BoxError):
    """The data folder is not there, or cannot be written."""

    number = 816


class BoxFailed(BoxError):
    """The table's own software failed in a step; whatever moves was stopped, whatever is open was locked."""

    number = 817


class PanelNotServed(BoxError):
    """The panel's address cannot be listened on; the table goes on without its pages."""

    number = 818


# --- the uplink: the broker, its network, its certificates; the table plays on ----------------------------------


class UplinkError(PitboxError):
    """The way to the MQTT broker does not work. The game goes on; what was to be told waits in the journal."""

    number = 830


class BrokerUnreachable(UplinkError):
    """Nothing answers at the broker's address."""

    number = 831


class BrokerRefused(UplinkError):
    """The broker does not let us in: user name, password, client id or its own limits."""

    number = 832


class BrokerUntrusted(UplinkError):
    """One of the two certificates was not accepted: the broker's by us, or ours by the broker."""

    number = 833


class BrokerSilent(UplinkError):
    """The broker took a connection or a message and did not answer in time."""

    number = 834


class BrokerDenied(UplinkError):
    """The broker took the connection, and refuses what we publish: its ACL, or its limits."""

    number = 835


class BrokerLost(UplinkError):
    """The connection to the broker stood, and broke."""

    number = 836


class OutboxLong(UplinkError):
    """More records wait for the broker than was thought possible. None is lost for that."""

    number = 837


class HistoryDiffers(UplinkError):
    """What the broker acknowledged is not in this journal: it was set back, or its past was changed."""

    number = 838


# --- what surrounds a box: certificates, the computer's limits, what was typed -----------------------------------


class CertificateExpired(PitboxError):
    """A certificate that the box shows or relies on has expired."""

    number = 850


class CertificateExpiresSoon(PitboxError):
    """A certificate that the box shows or relies on expires within 30 days."""

    number = 851


class CertificateNotYetValid(PitboxError):
    """A certificate begins later than the computer's clock shows."""

    number = 852


class BadCertificate(ConfigurationError):
    """A file holds no certificate, or one that cannot be read."""

    number = 853


class HeadStays(PitboxError):
    """No head of the journal leaves this computer."""

    number = 854


class FolderClosed(PitboxError):
    """The box may not write to a folder that its configuration names."""

    number = 855


class UsageMistake(ConfigurationError):
    """A command was typed in a form that it does not have."""

    number = 856
