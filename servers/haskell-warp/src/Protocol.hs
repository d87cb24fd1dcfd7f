{-# LANGUAGE OverloadedStrings #-}

-- | The text and binary dialects of docs/protocol.md. Knows no sockets.
module Protocol (Answer (..), answer) where

import Data.Aeson
import Data.Aeson.Encoding (encodingToLazyByteString)
import qualified Data.Aeson.KeyMap as KeyMap
import qualified Data.ByteString.Lazy as Lazy
import qualified Data.ByteString.Lazy.Char8 as Char8
import Data.Char (isAlphaNum, isAscii)
import Data.Text (Text)
import qualified Data.Text as Text
import Network.WebSockets (DataMessage (Binary))
import qualified Network.WebSockets as WebSockets

data Answer
    = Reply DataMessage
    | Broadcast DataMessage DataMessage
      -- ^ What all clients get, and what the sender gets after it.
    | Publish Text DataMessage DataMessage
      -- ^ The same for the subscribers of a topic.
    | Subscribe Text DataMessage
    | Unsubscribe Text DataMessage

answer :: DataMessage -> Answer
answer (WebSockets.Text bytes _) = answerText bytes
answer (Binary bytes) = answerBinary bytes

answerText :: Lazy.ByteString -> Answer
answerText bytes = case eitherDecode bytes of
    Left reason -> failure (toJSON ("the message cannot be read: " <> reason))
    Right fields -> case (KeyMap.lookup "type" fields, KeyMap.lookup "payload" fields) of
        (Just "subscribe", _) -> topicOf fields $ \topic ->
            Subscribe topic (encoded ("type" .= String "subscribed" <> "topic" .= topic))
        (Just "unsubscribe", _) -> topicOf fields $ \topic ->
            Unsubscribe topic (encoded ("type" .= String "unsubscribed" <> "topic" .= topic))
        (_, Nothing) -> failure "\"payload\" is missing"
        (Just "echo", Just payload) -> Reply (text "echo" payload)
        (Just "broadcast", Just payload) ->
            Broadcast (text "broadcast" payload) (text "broadcastResult" payload)
        (Just "publish", Just payload) -> topicOf fields $ \topic ->
            let about kind = encoded
                    ("type" .= String kind <> "topic" .= topic <> "payload" .= payload)
            in Publish topic (about "message") (about "publishResult")
        _ -> failure "\"type\" is unknown"

topicOf :: Object -> (Text -> Answer) -> Answer
topicOf fields use = case KeyMap.lookup "topic" fields of
    Just (String name) | isTopic name -> use name
    _ -> failure "\"topic\" is missing or no name of a topic"

isTopic :: Text -> Bool
isTopic name = not (Text.null name) && Text.compareLength name 64 /= GT && Text.all known name
  where
    known c = isAscii c && isAlphaNum c || c `elem` (".-_:" :: String)

answerBinary :: Lazy.ByteString -> Answer
answerBinary bytes = case Char8.uncons bytes of
    Just ('e', _) -> Reply (Binary bytes)
    Just ('b', payload) -> Broadcast (Binary (whole bytes)) (Binary (whole (Char8.cons 'r' payload)))
    Just _ -> failure "byte 0 is neither \"e\" nor \"b\""
    Nothing -> failure "the binary message is empty"

failure :: Value -> Answer
failure = Reply . text "error"

text :: Text -> Value -> DataMessage
text kind payload = encoded ("type" .= kind <> "payload" .= payload)

encoded :: Series -> DataMessage
encoded members = WebSockets.Text (whole (encodingToLazyByteString (pairs members))) Nothing

-- | In one piece, so that the bytes are put together once and not for each client.
whole :: Lazy.ByteString -> Lazy.ByteString
whole = Lazy.fromStrict . Lazy.toStrict
