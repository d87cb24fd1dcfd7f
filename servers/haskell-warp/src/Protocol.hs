{-# LANGUAGE OverloadedStrings #-}

-- | The text and binary dialects of docs/protocol.md. Knows no sockets.
module Protocol (Answer (..), answer) where

import Data.Aeson
import Data.Aeson.Encoding (encodingToLazyByteString)
import qualified Data.Aeson.KeyMap as KeyMap
import qualified Data.ByteString.Lazy as Lazy
import qualified Data.ByteString.Lazy.Char8 as Char8
import Data.Text (Text)
import Network.WebSockets (DataMessage (Binary))
import qualified Network.WebSockets as WebSockets

data Answer
    = Reply DataMessage
    | Broadcast DataMessage DataMessage
      -- ^ What all clients get, and what the sender gets after it.

answer :: DataMessage -> Answer
answer (WebSockets.Text bytes _) = answerText bytes
answer (Binary bytes) = answerBinary bytes

answerText :: Lazy.ByteString -> Answer
answerText bytes = case eitherDecode bytes of
    Left reason -> failure (toJSON ("the message cannot be read: " <> reason))
    Right fields -> case (KeyMap.lookup "type" fields, KeyMap.lookup "payload" fields) of
        (_, Nothing) -> failure "\"payload\" is missing"
        (Just "echo", Just payload) -> Reply (text "echo" payload)
        (Just "broadcast", Just payload) ->
            Broadcast (text "broadcast" payload) (text "broadcastResult" payload)
        _ -> failure "\"type\" is neither \"echo\" nor \"broadcast\""

answerBinary :: Lazy.ByteString -> Answer
answerBinary bytes = case Char8.uncons bytes of
    Just ('e', _) -> Reply (Binary bytes)
    Just ('b', payload) -> Broadcast (Binary (whole bytes)) (Binary (whole (Char8.cons 'r' payload)))
    Just _ -> failure "byte 0 is neither \"e\" nor \"b\""
    Nothing -> failure "the binary message is empty"

failure :: Value -> Answer
failure = Reply . text "error"

text :: Text -> Value -> DataMessage
text kind payload = WebSockets.Text (whole encoded) Nothing
  where
    encoded = encodingToLazyByteString (pairs ("type" .= kind <> "payload" .= payload))

-- | In one piece, so that the bytes are put together once and not for each client.
whole :: Lazy.ByteString -> Lazy.ByteString
whole = Lazy.fromStrict . Lazy.toStrict
