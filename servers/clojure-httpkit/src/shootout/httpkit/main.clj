(ns shootout.httpkit.main
  "Starts the server of docs/protocol.md on http-kit; it runs until a signal ends the process."
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.tools.cli :as cli]
   [org.httpkit.server :as http-kit]
   [shootout.httpkit.hub :as hub]
   [shootout.httpkit.protocol :as protocol])
  (:import [java.io IOException])
  (:gen-class))

(set! *warn-on-reflection* true)

(def ^:private ^:const largest-message (* 16 1024 1024))

(def ^:private ^:const queue-size
  "Tasks that may wait for a worker. Each message and each end of a connection is one, and what does
  not fit is dropped; the library's 20,480 are fewer than the connections that may end at once."
  (* 1024 1024))

(defn- number-to [highest]
  [#(<= 1 % highest) (str "not a number from 1 to " highest)])

(def ^:private flags
  [[nil "--host HOST" "address to listen on" :default "127.0.0.1"]
   [nil "--address HOST" "the same as --host" :id :host]
   [nil "--port N" "TCP port; also without the flag" :default 3000
    :parse-fn parse-long :validate (number-to 65535)]
   [nil "--threads N" "worker threads, beside the one for I/O" :parse-fn parse-long :validate (number-to 1024)
    :default (.availableProcessors (Runtime/getRuntime)) :default-desc "one per processor"]
   [nil "--raw-echo" "send every message back as it came, for Autobahn|Testsuite"]
   [nil "--version" "print the versions of the libraries and exit"]
   [nil "--help" "print this text and exit"]])

(defn- fail! [status message]
  (binding [*out* *err*]
    (println (str "clojure-httpkit-server: " message)))
  (System/exit status))

(defn- library-version []
  (:http-kit (edn/read-string (slurp (io/resource "versions.edn")))))

(defn- handler
  "What RFC 6455, section 4.2.1 asks of a handshake and the library does not look at, is looked at here."
  [on-receive]
  (fn [{:keys [websocket? headers] :as request}]
    (cond
      (not (and websocket? (= "13" (get headers "sec-websocket-version"))))
      {:status 426, :headers {"Upgrade" "websocket", "Sec-WebSocket-Version" "13"}}

      (nil? (get headers "sec-websocket-key"))
      {:status 400}

      :else
      (hub/connect! request on-receive))))

(defn- listen! [{:keys [host port threads raw-echo]}]
  (try
    (http-kit/run-server (handler (if raw-echo http-kit/send! protocol/on-message))
                         {:ip             host
                          :port           port
                          :max-ws         largest-message
                          :thread         threads
                          :allow-virtual? false
                          :queue-type     :linked
                          :queue-size     queue-size})
    (catch IOException refused
      (fail! 1 (str "cannot listen on " host " port " port ": " (ex-message refused))))))

(defn- parse
  "The first argument may be the bare port, as the server of 2016 had it."
  [args]
  (cli/parse-opts (cond->> args (some->> (first args) (re-matches #"\d+")) (cons "--port")) flags))

(defn -main [& args]
  (let [{:keys [options arguments errors summary]} (parse args)]
    (cond
      errors             (fail! 2 (str (str/join "; " errors) " (see --help)"))
      (seq arguments)    (fail! 2 (str "unknown argument " (pr-str (first arguments)) " (see --help)"))
      (:help options)    (println (str "clojure-httpkit-server: the websocket-shootout protocol on http-kit\n\n"
                                       summary))
      (:version options) (println (str "http-kit " (library-version)
                                       ", Clojure " (clojure-version) ", Java " (Runtime/version)))
      :else              (listen! options))))
