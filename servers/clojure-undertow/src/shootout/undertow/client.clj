(ns shootout.undertow.client
  "A connection and the size of what waits to be written to it. Everything here runs on the
  connection's own I/O thread, which `thread` tells."
  (:import
   [io.undertow.websockets.core WebSocketCallback WebSocketChannel WebSockets]
   [java.io Closeable]
   [java.nio ByteBuffer]
   [java.util.concurrent.atomic AtomicLong]
   [org.xnio IoUtils XnioIoThread]))

(set! *warn-on-reflection* true)

(def ^:private ^:const most-queued (* 64 1024 1024))

(deftype Client [^WebSocketChannel channel ^AtomicLong queued ^WebSocketCallback written])

(defn client [^WebSocketChannel channel]
  (let [queued (AtomicLong.)]
    (->Client channel queued
              (reify WebSocketCallback
                (complete [_ _ size]
                  (.addAndGet queued (- (long size))))
                ;; The library closes what is broken; a send also fails during a closing handshake.
                (onError [_ _ size _]
                  (.addAndGet queued (- (long size))))))))

(defn channel ^WebSocketChannel [^Client client]
  (.channel client))

(defn thread ^XnioIoThread [client]
  (.getIoThread (channel client)))

(defn send!
  "Queues a message, `kind` being :text or :binary, and writes what the socket takes. The buffer is
  shared and stays as it is. A client for whom 64 MiB wait already is cut off."
  [^Client client kind ^ByteBuffer message]
  (let [channel (channel client)
        queued  ^AtomicLong (.queued client)
        waiting (.get queued)
        size    (.remaining message)]
    ;; One message is always taken: JSON may grow when it is written anew.
    (if (and (pos? waiting) (> (+ waiting size) most-queued))
      (IoUtils/safeClose ^Closeable channel)
      (let [body    (.duplicate message)
            written ^WebSocketCallback (.written client)
            context (cast Object size)] ; a primitive would be taken for a time-out
        (.addAndGet queued size)
        (case kind
          :text   (WebSockets/sendText body channel written context)
          :binary (WebSockets/sendBinary body channel written context))))))

(defn queue!
  "Queues a message for the next `flush!`, or for whatever is sent before that."
  [client kind message]
  (let [channel (channel client)]
    (.setRequireExplicitFlush channel true)
    (send! client kind message)
    (.setRequireExplicitFlush channel false)))

(defn flush! [client]
  (.flush (channel client)))
