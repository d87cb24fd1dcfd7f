(ns shootout.undertow.main
  "Starts the server of docs/protocol.md on Undertow; it runs until a signal ends the process."
  (:require
   [clojure.string :as str]
   [clojure.tools.cli :as cli]
   [shootout.undertow.client :as client]
   [shootout.undertow.hub :as hub]
   [shootout.undertow.listener :as listener])
  (:import
   [io.undertow Undertow Version]
   [io.undertow.server HttpHandler]
   [io.undertow.websockets WebSocketConnectionCallback WebSocketProtocolHandshakeHandler]
   [io.undertow.websockets.core WebSocketChannel]
   [io.undertow.websockets.core.protocol.version13 Hybi13Handshake]
   [java.util Collection]
   [java.util.logging Level Logger]
   [org.xnio Options])
  (:gen-class))

(set! *warn-on-reflection* true)

(def ^:private ^:const backlog
  "The kernel lowers it to net.core.somaxconn."
  4096)

(defn- number-to [highest]
  [#(<= 1 % highest) (str "not a number from 1 to " highest)])

(def ^:private flags
  [[nil "--host HOST" "address to listen on" :default "127.0.0.1"]
   [nil "--address HOST" "the same as --host" :id :host]
   [nil "--port N" "TCP port" :default 3000 :parse-fn parse-long :validate (number-to 65535)]
   [nil "--threads N" "I/O threads" :parse-fn parse-long :validate (number-to 1024)
    :default (.availableProcessors (Runtime/getRuntime)) :default-desc "one per processor"]
   [nil "--raw-echo" "send every message back as it came, for Autobahn|Testsuite"]
   [nil "--version" "print the versions of the libraries and exit"]
   [nil "--help" "print this text and exit"]])

(defn- fail! [status message]
  (binding [*out* *err*]
    (println (str "clojure-undertow-server: " message)))
  (System/exit status))

(defn- websocket-handler ^HttpHandler [hub raw-echo?]
  ;; Hybi13 alone is RFC 6455; by default the drafts 7 and 8 are spoken too.
  (WebSocketProtocolHandshakeHandler.
   ^Collection (list (Hybi13Handshake.))
   (reify WebSocketConnectionCallback
     (onConnect [_ _ channel]
       (let [client (client/client channel)]
         (.set (.getReceiveSetter ^WebSocketChannel channel)
               (if raw-echo? (listener/raw-echo client) (listener/protocol hub client)))
         (hub/join! hub client)
         (.resumeReceives ^WebSocketChannel channel))))))

(defn- server ^Undertow [{:keys [^String host port threads raw-echo]}]
  (let [hub       (hub/hub)
        websocket (websocket-handler hub raw-echo)]
    (-> (Undertow/builder)
        (.addHttpListener (int port) host)
        (.setIoThreads threads)
        (.setWorkerThreads 1) ; every handler runs on an I/O thread
        (.setSocketOption Options/BACKLOG (int backlog))
        (.setHandler (reify HttpHandler
                       (handleRequest [_ exchange]
                         (hub/prepare! hub (.getIoThread exchange))
                         (.handleRequest websocket exchange))))
        (.build))))

(defn- listen! [{:keys [host port] :as options}]
  (.setLevel (Logger/getLogger "") Level/WARNING)
  (try
    (.start (server options))
    (catch RuntimeException refused
      (fail! 1 (str "cannot listen on " host " port " port ": "
                    (ex-message (or (ex-cause refused) refused)))))))

(defn -main [& args]
  (let [{:keys [options arguments errors summary]} (cli/parse-opts args flags)]
    (cond
      errors           (fail! 2 (str (str/join "; " errors) " (see --help)"))
      (seq arguments)  (fail! 2 (str "unknown argument " (pr-str (first arguments)) " (see --help)"))
      (:help options)  (println (str "clojure-undertow-server: the websocket-shootout protocol on Undertow\n\n"
                                     summary))
      (:version options) (println (str "Undertow " (Version/getVersionString)
                                       ", Clojure " (clojure-version) ", Java " (Runtime/version)))
      :else            (listen! options))))
