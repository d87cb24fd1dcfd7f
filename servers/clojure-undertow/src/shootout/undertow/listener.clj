(ns shootout.undertow.listener
  "What is done with the messages of one connection: the requests of docs/protocol.md, text
  and binary, or the raw echo."
  (:require
   [clojure.data.json :as json]
   [shootout.undertow.client :as client]
   [shootout.undertow.hub :as hub]
   [shootout.undertow.topics :as topics])
  (:import
   [io.undertow.websockets.core AbstractReceiveListener BufferedBinaryMessage BufferedTextMessage
    WebSockets]
   [java.nio ByteBuffer]
   [java.nio.charset StandardCharsets]
   [org.xnio Pooled]))

(set! *warn-on-reflection* true)

(def ^:private ^:const largest-message (* 16 1024 1024))

(defn- utf8 ^ByteBuffer [^String text]
  (ByteBuffer/wrap (.getBytes text StandardCharsets/UTF_8)))

(defn- encode [message]
  (utf8 (json/write-str message)))

(defn- envelope [type payload]
  (encode {"type" type, "payload" payload}))

(defn- error! [client words]
  (client/send! client :text (envelope "error" words)))

(defn- only-space-may-follow
  "data.json stops behind the first value, and its `on-extra-throw` would refuse white space too."
  [value reader]
  (when-not (re-matches #"[ \t\n\r]*" (slurp reader))
    (throw (ex-info "extra data behind the JSON value" {})))
  value)

(defn- about-topic [hub client {:strs [type topic payload] :as request}]
  (cond
    (not (topics/valid-name? topic))
    (error! client "no topic of such a name")

    (= type "subscribe")
    (do (topics/subscribe! (hub/topics hub client) client topic)
        (client/send! client :text (encode {"type" "subscribed", "topic" topic})))

    (= type "unsubscribe")
    (do (topics/unsubscribe! (hub/topics hub client) client topic)
        (client/send! client :text (encode {"type" "unsubscribed", "topic" topic})))

    (contains? request "payload")
    (let [about #(encode {"type" %, "topic" topic, "payload" payload})]
      (hub/publish! hub client topic (about "message") (about "publishResult")))

    :else (error! client "no payload")))

(defn- handle-json [hub client text]
  (let [request (json/read-str text :extra-data-fn only-space-may-follow)
        {:strs [type payload]} (when (map? request) request)]
    (cond
      (not (map? request))
      (error! client "not an object")

      (contains? #{"subscribe" "unsubscribe" "publish"} type)
      (about-topic hub client request)

      (not (contains? request "payload"))
      (error! client "no payload")

      :else
      (case type
        "echo"      (client/send! client :text (envelope "echo" payload))
        "broadcast" (hub/broadcast! hub client :text
                                    (envelope "broadcast" payload)
                                    (envelope "broadcastResult" payload))
        (error! client "unknown type")))))

(defn- on-text [hub client text]
  (try
    (handle-json hub client text)
    ;; data.json has no exception of its own
    (catch Exception _ (error! client "malformed JSON"))
    (catch StackOverflowError _ (error! client "JSON nested too deep"))))

(defn- with-type ^ByteBuffer [^ByteBuffer message type]
  (doto (ByteBuffer/allocate (.remaining message))
    (.put (.duplicate message))
    (.put 0 (byte type))
    (.flip)))

(defn- on-binary [hub client ^ByteBuffer message]
  (case (when (.hasRemaining message) (char (.get message (.position message))))
    \e (client/send! client :binary message)
    \b (hub/broadcast! hub client :binary message (with-type message \r))
    (error! client "empty or of unknown type")))

(defn- listener [on-text on-binary]
  (proxy [AbstractReceiveListener] []
    (getMaxTextBufferSize [] largest-message)
    (getMaxBinaryBufferSize [] largest-message)
    ;; No limit: the library stops reading from a client for whom more than 50 frames wait.
    (getMaxPingsPerWindow [] Integer/MAX_VALUE)
    (onFullTextMessage [_ message]
      (on-text (.getData ^BufferedTextMessage message)))
    (onFullBinaryMessage [_ message]
      ;; The pool's buffers would be held until the slowest client has taken them: copied out.
      (with-open [^Pooled data (.getData ^BufferedBinaryMessage message)]
        (on-binary (WebSockets/mergeBuffers (.getResource data)))))))

(defn protocol [hub client]
  (listener #(on-text hub client %) #(on-binary hub client %)))

(defn raw-echo
  "Sends every message back as it came, for Autobahn|Testsuite."
  [client]
  (listener #(client/send! client :text (utf8 %)) #(client/send! client :binary %)))
