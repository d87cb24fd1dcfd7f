-- | Who is subscribed to what. What is published goes into the clients' own queues
-- ("Hub"), in either mode.
module Topics
    ( Topics
    , Member
    , newTopics
    , withMember
    , subscribe
    , unsubscribe
    , publishTo
    ) where

import Control.Concurrent.STM
import Control.Exception (bracket, mask_)
import Data.Foldable (for_, traverse_)
import Data.IORef
import qualified Data.IntMap.Strict as IntMap
import qualified Data.Map.Strict as Map
import qualified Data.Set as Set
import Data.Text (Text)
import Network.WebSockets (Message)

import Hub (Client (..))

-- | The subscribers of each topic that has any, by their number; and the next
-- number.
data Topics = Topics (IORef (Map.Map Text (IntMap.IntMap Member))) (IORef Int)

-- | A client, its number and what it is subscribed to.
data Member = Member
    { client :: Client
    , number :: Int
    , own :: TVar (Set.Set Text)
    }

newTopics :: IO Topics
newTopics = Topics <$> newIORef Map.empty <*> newIORef 0

-- | The member's subscriptions end with the action.
withMember :: Topics -> Client -> (Member -> IO a) -> IO a
withMember topics@(Topics _ numbers) owner = bracket enter leave
  where
    enter = do
        free <- atomicModifyIORef' numbers (\free -> (free + 1, free))
        Member owner free <$> newTVarIO Set.empty
    leave member = readTVarIO (own member) >>= traverse_ (remove topics member)

-- | Nothing of the topic comes before the answer: the member takes messages of it
-- from the transaction on that queues the answer.
subscribe :: Topics -> Member -> Text -> Message -> IO ()
subscribe (Topics subscribers _) member topic answer = mask_ $ do
    atomicModifyIORef' subscribers $ \all' ->
        (Map.insertWith IntMap.union topic (IntMap.singleton (number member) member) all', ())
    replyWhen (client member) (True <$ modifyTVar' (own member) (Set.insert topic)) answer

-- | Nothing of the topic comes after the answer.
unsubscribe :: Topics -> Member -> Text -> Message -> IO ()
unsubscribe topics member topic answer = mask_ $ do
    remove topics member topic
    replyWhen (client member) (True <$ modifyTVar' (own member) (Set.delete topic)) answer

-- | Has queued the message for every subscriber when it returns.
publishTo :: Topics -> Text -> Message -> IO ()
publishTo (Topics subscribers _) topic message = do
    found <- Map.lookup topic <$> readIORef subscribers
    for_ found $ traverse_ $ \member ->
        replyWhen (client member) (Set.member topic <$> readTVar (own member)) message

remove :: Topics -> Member -> Text -> IO ()
remove (Topics subscribers _) member topic =
    atomicModifyIORef' subscribers $ \all' -> (Map.update others topic all', ())
  where
    others members = case IntMap.delete (number member) members of
        left | IntMap.null left -> Nothing
             | otherwise -> Just left
