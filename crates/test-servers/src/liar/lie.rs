//! The list of lies; `behaviour` and `frames` tell them.

use crate::Framework;
use clap::ValueEnum;

/// One way to break the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Lie {
    /// Breaks no rule.
    None,
    /// Answers 101 with the accept key of another key.
    WrongAccept,
    /// Leaves `Upgrade: websocket` out of the 101 answer.
    NoUpgradeHeader,
    /// Names an extension that was not offered.
    UnaskedExtension,
    /// Names a subprotocol that was not offered.
    UnaskedSubprotocol,
    /// Answers 101 to a request that asks for no upgrade.
    UpgradesPlainRequests,
    /// Answers 101 to any version.
    AnyVersion,
    /// Answers 101 to a request without a key.
    NoKeyNeeded,
    /// Names no subprotocol, where one was asked for.
    NoSubprotocol,
    /// Answers the 30th echo of a connection twice, if it is a small one.
    EchoesTwice,
    /// Sends the 10th echo of a connection 20 ms late, behind others, if it is a small one.
    DelaysEcho,
    /// Sends echoes of 4 to 16 KiB to all other clients too.
    LeaksEchoes,
    /// Closes a connection with 1008 at its 32,769th message.
    CountsMessages,
    /// Writes the length 65,535 in eight bytes.
    LongLengthForm,
    /// Delivers broadcasts of 512 to 1,025 KiB to their sender alone.
    LosesLargeBroadcasts,
    /// Takes a binary message of 5 bytes for a bad one.
    RejectsEmptyPayload,
    /// Takes a binary message with a wrong size field for a bad one.
    TrustsSize,
    /// Holds a connection to the dialect of its first message.
    OneDialect,
    /// Loses combining accents (U+0301) in strings.
    DropsCombining,
    /// Rounds doubles to six decimals.
    RoundsDoubles,
    /// Takes the payload `null` for a missing one.
    NullIsMissing,
    /// Looks for the type at byte 9 and takes messages without it there for bad.
    FixedOffset,
    /// Delivers broadcasts of 300 to 450 bytes twice to the last client.
    DeliversTwice,
    /// Does not deliver broadcasts of 300 to 450 bytes to the first client.
    ForgetsOne,
    /// Does not deliver broadcasts of 300 to 450 bytes to their sender.
    ForgetsSender,
    /// Changes one byte of broadcasts of 1,000 to 1,200 bytes for the last client.
    SpoilsBroadcast,
    /// Changes one byte of the results of broadcasts of 500 to 650 bytes.
    SpoilsResult,
    /// Sends no result for broadcasts of 500 to 650 bytes.
    NoResult,
    /// Sends the results of broadcasts of 700 to 850 bytes to everyone.
    ResultToAll,
    /// Answers a broadcast, and delivers it to the others 5 ms later.
    AcksEarly,
    /// Answers broadcasts with a payload of 100 to 200 bytes, and delivers them to the others 1.5 s
    /// later.
    DeliversLate,
    /// Sends the sender its broadcast behind the result.
    OwnBroadcastLast,
    /// Delivers broadcasts also to clients that did not join, or that have left.
    ServesOutsiders,
    /// Delivers publications of 300 to 450 bytes to all clients.
    RoomReachesStrangers,
    /// Does not deliver publications of 300 to 450 bytes to the last subscriber.
    RoomForgetsOne,
    /// Delivers publications of 300 to 450 bytes twice to the last subscriber.
    RoomDeliversTwice,
    /// Changes one byte of publications of 1,000 to 1,200 bytes for the last subscriber.
    RoomSpoils,
    /// Answers a publication, and delivers it to the others 5 ms later.
    RoomAcksEarly,
    /// Sends the publisher its message behind the result.
    RoomOwnMessageLast,
    /// Subscribes a client 30 ms before it says so.
    RoomConfirmsLate,
    /// Confirms the end of a subscription and keeps it, where the topic has other subscribers.
    RoomKeepsLeavers,
    /// Delivers as often as a client has subscribed.
    RoomCountsTwice,
    /// Takes topics that differ in upper and lower case for one.
    RoomIgnoresCase,
    /// Takes what may not name a topic for a name.
    RoomTakesAnyName,
    /// Keeps 1 KiB of each subscription that there ever was.
    RoomKeepsTopics,
    /// Answers client_max_window_bits to a client that did not offer it.
    DeflateChoosesUnasked,
    /// Takes a larger window than the client permits.
    DeflateTakesLarger,
    /// Turns compression on for offers that it must decline.
    DeflateTakesBadOffers,
    /// Loses the end of each message of more than 20,000 bytes that compression makes smaller by less than
    /// a half.
    DeflateLosesIncompressible,
    /// Agrees to forget each message, and refers to earlier ones.
    DeflateKeepsContext,
    /// Loses the sixth and further fragments of a message where compression is on, but for the
    /// last.
    DeflateLosesFragments,
    /// Does not answer a ping between the fragments of a compressed message.
    DeflateDeafWithinMessage,
    /// Keeps each compressed message of 1 MiB and more.
    DeflateKeepsLarge,
    /// Compresses a broadcast of less than 32,000 bytes with the context of one client, and sends all that.
    DeflateOneForAll,
    /// Marks its answers to messages without compression as compressed, which they are not.
    DeflateMarksAll,
    /// Once a client that compresses has gone, compresses the next broadcast of more than 32,000 bytes for
    /// each other client that compresses, and does not send it.
    DeflateLosesBehindLeaver,
    /// Keeps a connection open that has RSV1 where it may not be.
    DeflateIgnoresRsv1,
    /// Skips messages that begin with a final block.
    DeflateSkipsFinalBlocks,
    /// Heeds nothing any more from a compressed message on that is empty.
    DeflateSkipsEmpty,
    /// Skips compressed messages that cannot be inflated.
    DeflateSkipsCorrupt,
    /// Skips compressed messages that expand past 16 MiB, and keeps the connection open.
    DeflateLimitOnWire,
    /// Answers every push as if its ref were "2".
    ForgetsRefs,
    /// Does not answer heartbeats.
    IgnoresHeartbeats,
    /// Takes frames without a mask.
    AcceptsUnmasked,
    /// Takes frames with reserved bits as if they were not set.
    IgnoresReservedBits,
    /// Skips frames with reserved opcodes.
    SkipsReservedOpcodes,
    /// Loses the sixth and further fragments of a message, but for the last, where the second is not empty.
    LosesFragments,
    /// Keeps 100 bytes of each fragment.
    KeepsFragments,
    /// Loses the 10,000th to the 20,000th fragment of a message, but for the last.
    LosesLateFragments,
    /// Loses a message that comes in one segment with the end of a fragmented one.
    LosesBehindFragments,
    /// Does not answer a ping between fragments.
    DeafWithinMessage,
    /// Skips a continuation frame with no message under way.
    SkipsContinuation,
    /// Skips a message that begins within another.
    SkipsInterleaved,
    /// Answers a ping with at most 100 bytes.
    CutsPongs,
    /// Answers the first 20 pings of a connection alone.
    TiresOfPings,
    /// Answers each ping of a connection after the first 1,000 with the payload of the one before.
    MixesPongs,
    /// Answers a pong with a pong.
    AnswersPongs,
    /// Takes a ping without FIN for a whole one.
    AcceptsFragmentedPing,
    /// Skips control frames of more than 125 bytes.
    SkipsLongPing,
    /// Answers every close frame with 1000.
    ClosesWith1000,
    /// Ends the connection without answering the close frame.
    ClosesSilently,
    /// Keeps the TCP connection after the closing handshake.
    StaysOpen,
    /// Replaces bytes that are not UTF-8 in messages of one frame.
    AcceptsInvalidUtf8,
    /// Replaces bytes that are not UTF-8 in fragmented messages.
    AcceptsInvalidFragments,
    /// Gives no answer to malformed JSON. Where the framework itself gives none, this lie and the
    /// others that ignore a message ignore everything behind it as well.
    IgnoresMalformedJson,
    /// Gives no answer to JSON that is no object.
    IgnoresNonObjects,
    /// Gives no answer to an object without a type.
    IgnoresMissingType,
    /// Gives no answer to an unknown type.
    IgnoresUnknownType,
    /// Closes with 1000 on an unknown type.
    ClosesUnknownTypeWith1000,
    /// Gives no answer to a request without a payload.
    IgnoresMissingPayload,
    /// Answers an echo without a payload as if it were null.
    InventsPayload,
    /// Gives no answer to requests of a topic that was not joined.
    IgnoresUnknownTopic,
    /// Gives no answer to an empty binary message.
    IgnoresEmptyBinary,
    /// Gives no answer to a binary message of unknown type.
    IgnoresUnknownByte,
    /// Sends error answers to everyone.
    ErrorToAll,
    /// Refuses messages over 15 MiB that come in one frame.
    LowLimit,
    /// Refuses messages over 15 MiB that come in fragments.
    LowLimitInFragments,
    /// Accepts 17 MiB in one frame.
    LimitInFragmentsOnly,
    /// Accepts 17 MiB in fragments.
    LimitPerFrame,
    /// Looks at the length of a message in fragments when it has the last one.
    LimitAtEnd,
    /// The first reset of a client that never spoke ends all connections.
    ResetTakesAll,
    /// The first client that vanishes within a frame ends all connections.
    CutTakesAll,
    /// Lists no connection after the first 1,000.
    TiresAfter1000,
    /// Keeps everything that a client does not read, without a bound.
    KeepsAllForSlow,
    /// Delivers a broadcast to no one else until a slow client has taken it.
    WaitsForSlow,
    /// Leaves a slow client connected, and out of what would exceed its queue.
    SkipsForSlow,
    /// Loses frames of 100,000 to 101,000 bytes to a client that has not taken an earlier one.
    LosesBehindSlow,
    /// Keeps the sockets of clients that have ended their connections without a close frame.
    KeepsHalfClosed,
    /// Keeps the sockets of clients that have ended their connections before their request was whole.
    KeepsUnopened,
}

impl Lie {
    /// The lies that a server of this framework can tell, without [`Lie::None`].
    pub fn all_in(framework: Framework) -> impl Iterator<Item = Self> {
        Self::all().filter(move |lie| lie.is_possible(framework))
    }

    fn is_possible(self, framework: Framework) -> bool {
        match self {
            Self::RejectsEmptyPayload
            | Self::TrustsSize
            | Self::OneDialect
            | Self::IgnoresEmptyBinary
            | Self::IgnoresUnknownByte => framework == Framework::Plain,
            Self::ServesOutsiders => framework != Framework::Plain,
            Self::ForgetsRefs | Self::IgnoresHeartbeats => framework == Framework::Phoenix,
            Self::NoSubprotocol => framework == Framework::ActionCable,
            _ => true,
        }
    }

    /// True where the framework allows what the others forbid.
    fn is_allowed(self, framework: Framework) -> bool {
        let unordered = matches!(
            self,
            Self::DelaysEcho
                | Self::AcksEarly
                | Self::OwnBroadcastLast
                | Self::RoomAcksEarly
                | Self::RoomOwnMessageLast
        );
        unordered && framework == Framework::ActionCable
    }

    /// All lies, without [`Lie::None`].
    pub fn all() -> impl Iterator<Item = Self> {
        let all = Self::value_variants().iter().copied();
        all.filter(|lie| *lie != Self::None)
    }

    /// The name on the command line.
    pub fn id(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// The id of the conformance check that must find this lie in this framework; `None` for
    /// [`Lie::None`] and for what the framework allows.
    pub fn trips(self, framework: Framework) -> Option<&'static str> {
        let trips = match (self, framework) {
            (Self::IgnoresUnknownTopic, Framework::Plain) => "protocol-rooms-errors",
            _ => self.breaks()?,
        };
        (!self.is_allowed(framework)).then_some(trips)
    }

    const fn breaks(self) -> Option<&'static str> {
        Some(match self {
            Self::None => return None,
            Self::WrongAccept => "rfc6455-4.2.2-accept-key",
            Self::NoUpgradeHeader => "rfc6455-4.2.2-upgrade-headers",
            Self::UnaskedExtension => "rfc6455-4.1-no-unasked-extension",
            Self::UnaskedSubprotocol | Self::NoSubprotocol => "rfc6455-4.1-no-unasked-subprotocol",
            Self::UpgradesPlainRequests => "rfc6455-4.2.1-plain-request",
            Self::AnyVersion => "rfc6455-4.2.2-version",
            Self::NoKeyNeeded => "rfc6455-4.2.1-missing-key",
            Self::EchoesTwice | Self::DelaysEcho => "protocol-echo",
            Self::CountsMessages => "protocol-many-messages",
            Self::LeaksEchoes => "protocol-echo-sender-only",
            Self::LongLengthForm => "rfc6455-5.2-payload-lengths",
            Self::LosesLargeBroadcasts => "protocol-large-payloads",
            Self::RejectsEmptyPayload => "protocol-binary-payloads",
            Self::TrustsSize => "protocol-binary-byte-0-alone",
            Self::OneDialect => "protocol-both-dialects",
            Self::DropsCombining => "protocol-text-strings",
            Self::RoundsDoubles => "protocol-text-numbers",
            Self::NullIsMissing => "protocol-text-structures",
            Self::FixedOffset => "protocol-text-really-parsed",
            Self::DeliversTwice | Self::ForgetsOne | Self::ForgetsSender => {
                "protocol-broadcast-exactly-once"
            }
            Self::SpoilsBroadcast => "protocol-broadcast-payload",
            Self::SpoilsResult | Self::NoResult => "protocol-result-payload",
            Self::ResultToAll => "protocol-result-sender-only",
            Self::AcksEarly | Self::DeliversLate => "protocol-ack-rule",
            Self::ServesOutsiders => "protocol-members-only",
            Self::RoomReachesStrangers | Self::RoomForgetsOne | Self::RoomDeliversTwice => {
                "protocol-rooms-exactly-once"
            }
            Self::RoomSpoils => "protocol-rooms-payload",
            Self::RoomAcksEarly | Self::RoomOwnMessageLast => "protocol-rooms-ack-rule",
            Self::RoomConfirmsLate => "protocol-rooms-subscribed-first",
            Self::RoomKeepsLeavers => "protocol-rooms-unsubscribe",
            Self::RoomCountsTwice => "protocol-rooms-again",
            Self::RoomIgnoresCase => "protocol-rooms-topics",
            Self::RoomTakesAnyName => "protocol-rooms-errors",
            Self::RoomKeepsTopics => "protocol-rooms-memory",
            Self::DeflateKeepsLarge => "protocol-large-messages-memory",
            Self::KeepsFragments => "protocol-endless-fragments",
            Self::DeflateChoosesUnasked => "rfc7692-7.1.2.2-client-window",
            Self::DeflateTakesLarger => "rfc7692-7.1.2.1-server-window",
            Self::DeflateTakesBadOffers => "rfc7692-7.1-bad-offers",
            Self::DeflateKeepsContext => "rfc7692-7.1.1.1-no-context-takeover",
            Self::DeflateLosesFragments | Self::DeflateDeafWithinMessage => "rfc7692-6.1-fragments",
            Self::DeflateLosesIncompressible => "rfc7692-7.2.1-incompressible",
            Self::DeflateMarksAll => "rfc7692-6.1-in-turn",
            Self::DeflateOneForAll => "rfc7692-7.2.1-broadcast",
            Self::DeflateLosesBehindLeaver => "rfc7692-7.2.1-leaving-clients",
            Self::DeflateIgnoresRsv1 => "rfc7692-6.1-rsv1",
            Self::DeflateSkipsFinalBlocks => "rfc7692-7.2.3-blocks",
            Self::DeflateSkipsEmpty => "rfc7692-7.2.3.6-empty",
            Self::DeflateSkipsCorrupt => "rfc7692-7.2.2-corrupt",
            Self::DeflateLimitOnWire => "protocol-limit-inflated",
            Self::ForgetsRefs => "protocol-phoenix-refs",
            Self::IgnoresHeartbeats => "protocol-phoenix-heartbeat",
            Self::OwnBroadcastLast => "protocol-ack-rule-own-connection",
            Self::AcceptsUnmasked => "rfc6455-5.1-unmasked-frame",
            Self::IgnoresReservedBits => "rfc6455-5.2-reserved-bits",
            Self::SkipsReservedOpcodes => "rfc6455-5.2-reserved-opcodes",
            Self::LosesFragments => "rfc6455-5.4-fragments",
            Self::LosesLateFragments => "rfc6455-5.4-many-fragments",
            Self::LosesBehindFragments => "rfc6455-5.4-message-behind-fragments",
            Self::DeafWithinMessage => "rfc6455-5.4-ping-between-fragments",
            Self::SkipsContinuation => "rfc6455-5.4-continuation-without-start",
            Self::SkipsInterleaved => "rfc6455-5.4-interleaved-message",
            Self::CutsPongs => "rfc6455-5.5.2-ping",
            Self::TiresOfPings => "rfc6455-5.5.3-pings-at-once",
            Self::MixesPongs => "rfc6455-5.5.3-pings-unread",
            Self::AnswersPongs => "rfc6455-5.5.3-unsolicited-pong",
            Self::AcceptsFragmentedPing => "rfc6455-5.5-fragmented-control",
            Self::SkipsLongPing => "rfc6455-5.5-long-control",
            Self::ClosesWith1000 | Self::ClosesSilently => "rfc6455-5.5.1-close-echo",
            Self::StaysOpen => "rfc6455-5.5.1-close-ends-connection",
            Self::AcceptsInvalidUtf8 => "rfc6455-8.1-invalid-utf8",
            Self::AcceptsInvalidFragments => "rfc6455-8.1-invalid-utf8-in-fragments",
            Self::IgnoresMalformedJson => "protocol-error-malformed-json",
            Self::IgnoresNonObjects => "protocol-error-not-an-object",
            Self::IgnoresMissingType => "protocol-error-missing-type",
            Self::IgnoresUnknownType | Self::ClosesUnknownTypeWith1000 => {
                "protocol-error-unknown-type"
            }
            Self::IgnoresMissingPayload | Self::InventsPayload => "protocol-error-missing-payload",
            Self::IgnoresUnknownTopic => "protocol-error-unknown-topic",
            Self::IgnoresEmptyBinary => "protocol-error-empty-binary",
            Self::IgnoresUnknownByte => "protocol-error-unknown-byte-0",
            Self::ErrorToAll => "protocol-error-isolated",
            Self::LowLimitInFragments => "protocol-limit-accepted-in-fragments",
            Self::LowLimit => "protocol-limit-accepted",
            Self::LimitInFragmentsOnly => "protocol-limit-refused",
            Self::LimitPerFrame => "protocol-limit-refused-in-fragments",
            Self::LimitAtEnd => "protocol-limit-refused-without-end",
            Self::ResetTakesAll => "protocol-reset-in-broadcast",
            Self::CutTakesAll => "protocol-vanished-client",
            Self::TiresAfter1000 => "protocol-churn",
            Self::KeepsAllForSlow | Self::WaitsForSlow | Self::SkipsForSlow => {
                "protocol-limit-slow-client"
            }
            Self::LosesBehindSlow => "protocol-large-broadcasts-at-once",
            Self::KeepsHalfClosed | Self::KeepsUnopened => "protocol-no-half-closed-sockets",
        })
    }
}
