(ns shootout.httpkit.hub
  "Every open channel, and the broadcast over them.

  Connecting and closing exclude broadcasts, broadcasts do not exclude each other: a client that has
  its handshake answered is in the set before the next broadcast, and a channel that closes at once
  does not stay behind."
  (:require [org.httpkit.server :as http-kit])
  (:import [java.util.concurrent.locks Lock ReentrantReadWriteLock]))

(set! *warn-on-reflection* true)

(def ^:private channels (atom #{}))

(def ^:private ^ReentrantReadWriteLock gate (ReentrantReadWriteLock.))

(defmacro ^:private holding [lock & body]
  `(let [lock# ^Lock ~lock]
     (.lock lock#)
     (try ~@body (finally (.unlock lock#)))))

(defn connect!
  "Answers the handshake of a request and adds its channel; `on-receive` gets (channel, message)."
  [request on-receive]
  (holding (.writeLock gate)
    (http-kit/as-channel request
      {:on-open    (fn [channel] (swap! channels conj channel))
       :on-receive on-receive
       :on-close   (fn [channel _]
                     (holding (.writeLock gate)
                       (swap! channels disj channel)))})))

(defn broadcast!
  "Sends the message to every channel and then the result to the sender (docs/protocol.md, the ack
  rule): `send!` has queued or written it when it returns."
  [sender message result]
  (holding (.readLock gate)
    (run! #(http-kit/send! % message) @channels))
  (http-kit/send! sender result))
