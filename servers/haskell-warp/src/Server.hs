{-# LANGUAGE LambdaCase #-}
{-# LANGUAGE OverloadedStrings #-}

-- | Connections: limits, closing, and the two threads of each. Knows neither the
-- messages ("Protocol") nor how they reach others ("Hub").
module Server (application) where

import Control.Concurrent (forkIO, myThreadId)
import Control.Concurrent.Async (link, wait, withAsync)
import Control.Exception
import Control.Monad (void)
import Data.List (isInfixOf)
import Network.HTTP.Types (mkStatus)
import Network.Wai (Application, responseLBS)
import Network.Wai.Handler.WebSockets (websocketsOr)
import Network.WebSockets

import Hub
import Protocol
import Topics

-- | Thrown to a connection whose client has fallen too far behind.
data CutOff = CutOff deriving Show

instance Exception CutOff

-- | With the flag, every message goes back as it came.
application :: Bool -> Hub -> Topics -> Application
application rawEcho hub topics = websocketsOr options connection refuse
  where
    connection = if rawEcho then echoAll else serve hub topics
    refuse _ respond =
        respond (responseLBS (mkStatus 426 "Upgrade Required") [("Upgrade", "websocket")] "this is a WebSocket server\n")

-- | docs/protocol.md, "Limits"; bytes.
options :: ConnectionOptions
options = defaultConnectionOptions
    { connectionFramePayloadSizeLimit = SizeLimit maxMessage
    , connectionMessageDataSizeLimit = SizeLimit maxMessage
    , connectionCompressionOptions = NoCompression
    , connectionStrictUnicode = True
    }
  where
    maxMessage = 16 * 1024 * 1024

echoAll :: ServerApp
echoAll pending = quietly $ do
    connection <- acceptRequest pending
    close <- eachMessage connection (sendDataMessage connection)
    send connection (ControlMessage close)

serve :: Hub -> Topics -> ServerApp
serve hub topics pending = quietly $ do
    reader <- myThreadId
    -- Connected before the handshake is answered: a client that has just read
    -- the answer must not miss a broadcast that another one sends at once.
    withClient hub (void (forkIO (throwTo reader CutOff))) $ \client -> withMember topics client $ \member -> do
        connection <- acceptRequest pending
        withAsync (write connection client) $ \writer -> do
            link writer
            close <- eachMessage connection $ \message -> case answer message of
                Reply it -> reply client (plain it)
                Broadcast toAll result -> publish hub (plain toAll) >> reply client (plain result)
                Publish topic toAll result -> publishTo topics topic (plain toAll) >> reply client (plain result)
                Subscribe topic it -> subscribe topics member topic (plain it)
                Unsubscribe topic it -> unsubscribe topics member topic (plain it)
            reply client (ControlMessage close)
            wait writer
  where
    plain = DataMessage False False False

-- | Writes what is queued, until a close frame has been.
write :: Connection -> Client -> IO ()
write connection client = do
    batch <- next client
    sendDataMessages connection [message | DataMessage _ _ _ message <- messages batch]
    case [close | close@(ControlMessage _) <- messages batch] of
        close : _ -> send connection close
        [] -> written batch >> write connection client

-- | Hands on each message until there is a close frame to be answered with, and
-- returns that. 'receiveDataMessage' would answer control frames too, but a close
-- frame ahead of what is queued, and would take reserved bits (RFC 6455, section
-- 5.2) for nothing.
eachMessage :: Connection -> (DataMessage -> IO ()) -> IO ControlMessage
eachMessage connection handle' = try (receive connection) >>= \case
    Right (DataMessage False False False message) -> handle' message >> more
    Right DataMessage {} -> pure (Close 1002 "")
    Right (ControlMessage (Ping payload)) -> send connection (ControlMessage (Pong payload)) >> more
    Right (ControlMessage (Pong _)) -> more
    Right (ControlMessage close) -> pure close
    Left (ParseException reason)
        | "exceeded limit" `isInfixOf` reason -> pure (Close 1009 "")
        | otherwise -> pure (Close 1002 "")
    Left (UnicodeException _) -> pure (Close 1007 "")
    Left lost -> throwIO lost
  where
    more = eachMessage connection handle'

-- | Whatever ends one connection is no affair of the program's, and warp would
-- answer an exception with an HTTP response.
quietly :: IO () -> IO ()
quietly run = run `catch` \failure -> const (pure ()) (failure :: SomeException)
