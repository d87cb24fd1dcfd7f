(ns shootout.undertow.audience
  "Connections of one I/O thread that get the same messages."
  (:require [shootout.undertow.client :as client])
  (:import [org.xnio XnioIoThread]))

(set! *warn-on-reflection* true)

(defn audience [thread]
  {:thread thread, :clients (atom #{}), :flush-pending? (volatile! false)})

(defn run-on [^XnioIoThread thread f]
  (.execute thread ^Runnable f))

(defn add! [{:keys [clients]} client]
  (swap! clients conj client))

(defn remove!
  "Who is left."
  [{:keys [clients]} client]
  (swap! clients disj client))

(defn queue!
  "On the audience's own thread: queues the message on every connection. All the messages that wait
  in this thread share one flush."
  [{:keys [thread clients flush-pending?]} kind message]
  (run! #(client/queue! % kind message) @clients)
  (when-not @flush-pending?
    (vreset! flush-pending? true)
    (run-on thread (fn []
                     (vreset! flush-pending? false)
                     (run! client/flush! @clients)))))
