(ns shootout.undertow.topics
  "The topics that connections of one I/O thread are subscribed to; for that thread alone."
  (:require [shootout.undertow.audience :as audience]))

(set! *warn-on-reflection* true)

(defn valid-name? [value]
  (and (string? value) (some? (re-matches #"[A-Za-z0-9._:-]{1,64}" value))))

(defn topics
  "Topics without subscribers, and clients without topics, are not kept."
  [thread]
  {:thread thread, :audiences (atom {}), :subscriptions (atom {})})

(defn subscribers
  "Those who get the topic's messages, or nil."
  [{:keys [audiences]} topic]
  (get @audiences topic))

(defn subscribe! [{:keys [thread audiences subscriptions]} client topic]
  (swap! subscriptions update client (fnil conj #{}) topic)
  (swap! audiences update topic #(or % (audience/audience thread)))
  (audience/add! (get @audiences topic) client))

(defn- leave! [{:keys [audiences]} client topic]
  (when (empty? (audience/remove! (get @audiences topic) client))
    (swap! audiences dissoc topic)))

(defn unsubscribe! [{:keys [subscriptions] :as topics} client topic]
  (let [subscribed (get @subscriptions client)]
    (when (contains? subscribed topic)
      (if (next subscribed)
        (swap! subscriptions update client disj topic)
        (swap! subscriptions dissoc client))
      (leave! topics client topic))))

(defn forget!
  "Ends all subscriptions of a connection that has closed."
  [{:keys [subscriptions] :as topics} client]
  (let [subscribed (get @subscriptions client)]
    (swap! subscriptions dissoc client)
    (run! #(leave! topics client %) subscribed)))
