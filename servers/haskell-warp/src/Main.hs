-- | haskell-warp-ws-server: echo and broadcast on warp and websockets, see
-- docs/protocol.md. Holds the start: open files, cores, the listening socket.
module Main (main) where

import Control.Concurrent (setNumCapabilities)
import Control.Exception (try)
import Data.Foldable (for_)
import GHC.IO.Exception (IOException (ioe_description))
import qualified Network.Socket as Socket
import Network.Wai.Handler.Warp
import System.Exit (die)
import System.Posix.Resource

import qualified Hub
import Options
import Server (application)
import Topics (newTopics)

main :: IO ()
main = do
    options <- readOptions
    allowOpenFiles
    for_ (threads options) setNumCapabilities
    hub <- case mode options of
        Chan -> Hub.newChan
        NoChan -> Hub.newNoChan
    topics <- newTopics
    bound <- try (listenOn (address options) (port options))
    case bound of
        Left failure -> die $ unwords
            [ program <> ": cannot listen on", address options, "port", show (port options) <> ":"
            , ioe_description failure <> "; choose another with --address or --port"
            ]
        Right socket ->
            runSettingsSocket settings socket (application (rawEcho options) hub topics)
  where
    -- Seconds. A connection of warp's ends when nothing arrives for its
    -- time-out, a WebSocket too; a year is as good as never.
    settings = setTimeout (365 * 24 * 60 * 60) $ setOnException (\_ _ -> pure ()) defaultSettings

-- | As the run-times of Go, Java and Node do on their own.
allowOpenFiles :: IO ()
allowOpenFiles = do
    limits <- getResourceLimit ResourceOpenFiles
    setResourceLimit ResourceOpenFiles limits { softLimit = hardLimit limits }

-- | Warp's own socket has a backlog of 2048 and takes port 0 for any port of
-- every address.
listenOn :: String -> Int -> IO Socket.Socket
listenOn host number = do
    found <- Socket.getAddrInfo (Just hints) (Just host) (Just (show number))
    case found of
        [] -> ioError (userError "no such address")
        info : _ -> do
            socket <- Socket.openSocket info
            Socket.setSocketOption socket Socket.ReuseAddr 1
            Socket.withFdSocket socket Socket.setCloseOnExecIfNeeded
            Socket.bind socket (Socket.addrAddress info)
            Socket.listen socket 4096
            pure socket
  where
    hints = Socket.defaultHints
        { Socket.addrFlags = [Socket.AI_PASSIVE], Socket.addrSocketType = Socket.Stream }
