(ns shootout.undertow.hub
  "Every open connection, in one set per I/O thread, so that a broadcast costs each thread one task
  and not one per connection."
  (:require [shootout.undertow.client :as client])
  (:import
   [java.util.concurrent.atomic AtomicInteger]
   [org.xnio ChannelListener XnioIoThread]))

(set! *warn-on-reflection* true)

(defn hub [] (atom {}))

(defn- shard [thread]
  {:thread thread, :clients (atom #{}), :flush-pending? (volatile! false)})

(defn- run-on [^XnioIoThread thread f]
  (.execute thread ^Runnable f))

(defn prepare!
  "To be called before a handshake is answered on that thread: a broadcast that comes between the
  answer and `join!` then waits its turn on the thread, and finds the new connection."
  [hub thread]
  (when-not (contains? @hub thread)
    (swap! hub update thread #(or % (shard thread)))))

(defn join!
  "Adds a connection; it leaves by itself when it closes."
  [hub client]
  (let [{:keys [clients]} (get @hub (client/thread client))]
    (swap! clients conj client)
    (.addCloseTask (client/channel client)
                   (reify ChannelListener
                     (handleEvent [_ _] (swap! clients disj client))))))

(defn- queue!
  "On the shard's own thread: queues the message on every connection. All the broadcasts that wait in
  this thread share one flush."
  [{:keys [thread clients flush-pending?]} kind message]
  (run! #(client/queue! % kind message) @clients)
  (when-not @flush-pending?
    (vreset! flush-pending? true)
    (run-on thread (fn []
                     (vreset! flush-pending? false)
                     (run! client/flush! @clients)))))

(defn broadcast!
  "Queues the message on every connection and then the result on the sender's: whichever thread is
  the last to have queued sends it (docs/protocol.md, the ack rule)."
  [hub sender kind message result]
  (let [shards  (vals @hub)
        pending (AtomicInteger. (count shards))]
    (doseq [shard shards]
      (run-on (:thread shard)
              (fn []
                (queue! shard kind message)
                (when (zero? (.decrementAndGet pending))
                  (run-on (client/thread sender) #(client/send! sender kind result))))))))
