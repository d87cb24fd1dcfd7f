(ns shootout.undertow.client
  "A connection and what waits to be written to it. Everything here runs on the connection's own I/O
  thread, which `thread` tells."
  (:import
   [io.undertow.websockets.core WebSocketCallback WebSocketChannel WebSockets]
   [java.io Closeable]
   [java.nio ByteBuffer]
   [java.util ArrayDeque]
   [java.util.concurrent.atomic AtomicBoolean AtomicLong]
   [org.xnio IoUtils XnioIoThread]))

(set! *warn-on-reflection* true)

(def ^:private ^:const most-queued (* 64 1024 1024))

(def ^:private ^:const most-handed-over
  "Each flush of the library walks along all that it has been given."
  (* 1024 1024))

(declare hand-over-waiting!)

;; As a callback it is told the size of each message that has been written, or never will be.
(deftype Client [^WebSocketChannel channel
                 ^ArrayDeque waiting ; of [kind message]
                 ^AtomicLong queued
                 ^AtomicLong handed-over
                 ^AtomicBoolean unflushed]
  WebSocketCallback
  (complete [client _ size]
    (.addAndGet queued (- (long size)))
    (when (zero? (.addAndGet handed-over (- (long size))))
      (hand-over-waiting! client)))
  ;; The library closes what is broken; a send also fails during a closing handshake.
  (onError [_ _ size _]
    (.addAndGet queued (- (long size)))
    (.addAndGet handed-over (- (long size)))))

(defn client [channel]
  (->Client channel (ArrayDeque.) (AtomicLong.) (AtomicLong.) (AtomicBoolean.)))

(defn channel ^WebSocketChannel [^Client client]
  (.channel client))

(defn thread ^XnioIoThread [client]
  (.getIoThread (channel client)))

(defn- room-for? [^Client client ^long size]
  (let [handed-over (.get ^AtomicLong (.handed-over client))]
    (or (zero? handed-over) (<= (+ handed-over size) most-handed-over))))

(defn- hand-over! [^Client client kind ^ByteBuffer message]
  (let [channel (channel client)
        size    (.remaining message)
        body    (.duplicate message)
        context (cast Object size)] ; a primitive would be taken for a time-out
    (.addAndGet ^AtomicLong (.handed-over client) size)
    (.set ^AtomicBoolean (.unflushed client) true)
    (case kind
      :text   (WebSockets/sendText body channel client context)
      :binary (WebSockets/sendBinary body channel client context))))

(defn send!
  "Queues a message, `kind` being :text or :binary, and writes what the socket takes. The buffer is
  shared and stays as it is. A client for whom 64 MiB wait already is cut off."
  [^Client client kind ^ByteBuffer message]
  (let [queued  ^AtomicLong (.queued client)
        waiting ^ArrayDeque (.waiting client)
        size    (.remaining message)]
    ;; One message is always taken: JSON may grow when it is written anew.
    (if (and (pos? (.get queued)) (> (+ (.get queued) size) most-queued))
      (IoUtils/safeClose ^Closeable (channel client))
      (do
        (.addAndGet queued size)
        (if (and (.isEmpty waiting) (room-for? client size))
          (hand-over! client kind message)
          (.add waiting [kind message]))))))

(defn queue!
  "Queues a message for the next `flush!`, or for whatever is sent before that."
  [client kind message]
  (let [channel (channel client)]
    (.setRequireExplicitFlush channel true)
    (send! client kind message)
    (.setRequireExplicitFlush channel false)))

(defn flush! [^Client client]
  (when (.compareAndSet ^AtomicBoolean (.unflushed client) true false)
    (.flush (channel client))))

(defn- hand-over-waiting! [^Client client]
  (let [channel (channel client)
        waiting ^ArrayDeque (.waiting client)]
    (when-not (.isEmpty waiting)
      (.setRequireExplicitFlush channel true)
      (loop []
        (when-let [[kind ^ByteBuffer message] (.peek waiting)]
          (when (room-for? client (.remaining message))
            (.remove waiting)
            (hand-over! client kind message)
            (recur))))
      (.setRequireExplicitFlush channel false)
      (flush! client))))
