(ns shootout.undertow.hub
  "Every open connection and every subscription, apart for each I/O thread, so that a broadcast costs
  each thread one task and not one per connection."
  (:require
   [shootout.undertow.audience :as audience]
   [shootout.undertow.client :as client]
   [shootout.undertow.topics :as topics])
  (:import
   [java.util.concurrent.atomic AtomicInteger]
   [org.xnio ChannelListener]))

(set! *warn-on-reflection* true)

(defn hub [] (atom {}))

(defn- shard [thread]
  {:thread thread, :all (audience/audience thread), :topics (topics/topics thread)})

(defn prepare!
  "To be called before a handshake is answered on that thread: a broadcast that comes between the
  answer and `join!` then waits its turn on the thread, and finds the new connection."
  [hub thread]
  (when-not (contains? @hub thread)
    (swap! hub update thread #(or % (shard thread)))))

(defn topics
  "The topics of a connection's thread."
  [hub client]
  (:topics (get @hub (client/thread client))))

(defn join!
  "Adds a connection; it leaves by itself when it closes."
  [hub client]
  (let [{:keys [thread all topics]} (get @hub (client/thread client))]
    (audience/add! all client)
    (.addCloseTask (client/channel client)
                   (reify ChannelListener
                     (handleEvent [_ _]
                       (audience/remove! all client)
                       (audience/run-on thread #(topics/forget! topics client)))))))

(defn- send!
  "Queues the message on the audience of every thread, which may have none, and then the result on the
  sender's connection: whichever thread is the last to have queued sends it (docs/protocol.md, the ack
  rule)."
  [hub sender audience-of kind message result]
  (let [shards  (vals @hub)
        pending (AtomicInteger. (count shards))]
    (doseq [shard shards]
      (audience/run-on
       (:thread shard)
       (fn []
         (when-let [receivers (audience-of shard)]
           (audience/queue! receivers kind message))
         (when (zero? (.decrementAndGet pending))
           (audience/run-on (client/thread sender) #(client/send! sender kind result))))))))

(defn broadcast! [hub sender kind message result]
  (send! hub sender :all kind message result))

(defn publish! [hub sender topic message result]
  (send! hub sender #(topics/subscribers (:topics %) topic) :text message result))
