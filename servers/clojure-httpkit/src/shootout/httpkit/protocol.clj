(ns shootout.httpkit.protocol
  "The echo and broadcast requests of docs/protocol.md, text and binary, on whole messages: a string
  or an array of bytes each."
  (:require
   [clojure.data.json :as json]
   [org.httpkit.server :as http-kit]
   [shootout.httpkit.hub :as hub]))

(set! *warn-on-reflection* true)

(defn- envelope [type payload]
  (json/write-str {"type" type, "payload" payload}))

(defn- error! [channel words]
  (http-kit/send! channel (envelope "error" words)))

(defn- only-space-may-follow
  "data.json stops behind the first value, and its `on-extra-throw` would refuse white space too."
  [value reader]
  (when-not (re-matches #"[ \t\n\r]*" (slurp reader))
    (throw (ex-info "extra data behind the JSON value" {})))
  value)

(defn- handle-json [channel text]
  (let [request (json/read-str text :extra-data-fn only-space-may-follow)]
    (if-not (and (map? request) (contains? request "payload"))
      (error! channel "not an object with a payload")
      (let [payload (get request "payload")]
        (case (get request "type")
          "echo"      (http-kit/send! channel (envelope "echo" payload))
          "broadcast" (hub/broadcast! channel
                                      (envelope "broadcast" payload)
                                      (envelope "broadcastResult" payload))
          (error! channel "unknown type"))))))

(defn- on-text [channel text]
  (try
    (handle-json channel text)
    ;; data.json has no exception of its own
    (catch Exception _ (error! channel "malformed JSON"))
    (catch StackOverflowError _ (error! channel "JSON nested too deep"))))

(defn- with-type [^bytes message type]
  (doto (aclone message)
    (aset 0 (byte type))))

(defn- on-binary [channel ^bytes message]
  (case (when (pos? (alength message)) (char (aget message 0)))
    \e (http-kit/send! channel message)
    \b (hub/broadcast! channel message (with-type message \r))
    (error! channel "empty or of unknown type")))

(defn on-message [channel message]
  (if (string? message)
    (on-text channel message)
    (on-binary channel message)))
