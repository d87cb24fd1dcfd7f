-- | Who is connected, and what is still to be written to each. Two ways to
-- broadcast behind one interface; neither touches a socket.
--
-- * 'newChan': one broadcast channel that every client reads at its own pace.
--
-- * 'newNoChan': a loop over the clients, each of which has a queue.
module Hub
    ( Hub (..)
    , Client (..)
    , Batch (..)
    , newChan
    , newNoChan
    , reply
    ) where

import Control.Concurrent.STM
import Control.Exception (bracket)
import Control.Monad (unless, when)
import qualified Data.ByteString.Lazy as Lazy
import Data.Foldable (for_, traverse_)
import Data.IORef
import qualified Data.IntMap.Strict as IntMap
import Network.WebSockets (DataMessage (..), Message (..))

data Hub = Hub
    { publish :: Message -> IO ()
      -- ^ Has queued the message for every client when it returns.
    , withClient :: IO () -> (Client -> IO ()) -> IO ()
      -- ^ A client is connected while the second action runs. The first one cuts
      -- it off, once it has fallen too far behind; it must not block.
    }

data Client = Client
    { replyWhen :: STM Bool -> Message -> IO ()
      -- ^ Queues a message for this client alone, behind the broadcasts that were
      -- published before, if the first action of the same transaction says so.
    , next :: IO Batch
      -- ^ Waits for messages and takes all there are.
    }

reply :: Client -> Message -> IO ()
reply client = replyWhen client (pure True)

data Batch = Batch
    { messages :: [Message]
    , written :: IO ()
      -- ^ Until then they count as queued.
    }

-- | Bytes queued for one client; docs/protocol.md, "Limits".
maxQueued :: Int
maxQueued = 64 * 1024 * 1024

-- | Bytes of payload; control frames are too small to count.
size :: Message -> Int
size (DataMessage _ _ _ (Text bytes _)) = fromIntegral (Lazy.length bytes)
size (DataMessage _ _ _ (Binary bytes)) = fromIntegral (Lazy.length bytes)
size (ControlMessage _) = 0

-- | Messages for one client alone.
data Queue = Queue { waiting :: TQueue Message, queued :: TVar Int }

newQueue :: STM Queue
newQueue = Queue <$> newTQueue <*> newTVar 0

-- | One message is always taken when nothing is queued, because a number may
-- grow when it is written anew.
push :: Queue -> IO () -> STM Bool -> Message -> IO ()
push queue cutOff wanted message = do
    taken <- atomically $ do
        before <- readTVar (queued queue)
        go <- wanted
        let after = before + size message
            fits = before == 0 || after <= maxQueued
        when (go && fits) $ do
            writeTVar (queued queue) after
            writeTQueue (waiting queue) message
        pure (fits || not go)
    unless taken cutOff

pull :: Queue -> STM Batch
pull queue = do
    batch <- flushTQueue (waiting queue)
    pure (Batch batch (atomically (modifyTVar' (queued queue) (subtract (sum (map size batch))))))

-- | The clients, in a map that is replaced at once. Returns how to read it, and
-- how to be in it.
newRegistry :: IO (IO (IntMap.IntMap a), a -> IO () -> IO ())
newRegistry = do
    registry <- newIORef (IntMap.empty, 0)
    -- The maps are made at once: one that waits to be looked at keeps all who have left.
    let enter client = atomicModifyIORef' registry $ \(clients, key) ->
            let entered = IntMap.insert key client clients
            in entered `seq` ((entered, key + 1), key)
        leave key = atomicModifyIORef' registry $ \(clients, free) ->
            let left = IntMap.delete key clients
            in left `seq` ((left, free), ())
    pure (fst <$> readIORef registry, \client -> bracket (enter client) leave . const)

newNoChan :: IO Hub
newNoChan = do
    (clients, registered) <- newRegistry
    pure Hub
        { publish = \message -> clients >>= traverse_ ($ message)
        , withClient = \cutOff run -> do
            queue <- atomically newQueue
            registered (push queue cutOff (pure True)) $ run Client
                { replyWhen = push queue cutOff
                , next = atomically $ nonEmpty (pull queue)
                }
        }

-- | A broadcast, and the number of bytes published up to its end.
data Entry = Entry !Int Message

newChan :: IO Hub
newChan = do
    (clients, registered) <- newRegistry
    channel <- newBroadcastTChanIO
    published <- newTVarIO 0
    pure Hub
        { publish = \message -> do
            (before, after) <- atomically $ do
                before <- readTVar published
                let after = before + size message
                writeTVar published after
                writeTChan channel (Entry after message)
                pure (before, after)
            -- The channel knows no bounds. To look at every client for every
            -- broadcast would cost as much as the loop that it saves.
            unless (before `div` stride == after `div` stride) $
                clients >>= traverse_ ($ after)
        , withClient = \cutOff run -> do
            queue <- atomically newQueue
            (source, position) <- atomically $ do
                source <- dupTChan channel
                position <- newTVar =<< readTVar published
                pure (source, position)
            let look after = do
                    reached <- readTVarIO position
                    when (after - reached > maxQueued) cutOff
            registered look $ run Client
                { replyWhen = push queue cutOff
                , next = atomically $ nonEmpty $ do
                    entries <- drain source
                    -- Own messages last: a result may not overtake its broadcast.
                    own <- pull queue
                    pure Batch
                        { messages = [message | Entry _ message <- entries] <> messages own
                        , written = do
                            for_ (lastOf entries) $ \(Entry end _) ->
                                atomically (writeTVar position end)
                            unless (null (messages own)) (written own)
                        }
                }
        }
  where
    stride = 1024 * 1024
    lastOf entries = if null entries then Nothing else Just (last entries)

drain :: TChan a -> STM [a]
drain channel = tryReadTChan channel >>= maybe (pure []) (\one -> (one :) <$> drain channel)

nonEmpty :: STM Batch -> STM Batch
nonEmpty take' = do
    batch <- take'
    check (not (null (messages batch)))
    pure batch
