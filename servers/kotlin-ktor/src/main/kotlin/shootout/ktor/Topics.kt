package shootout.ktor

import java.util.concurrent.ConcurrentHashMap

private val NAME = Regex("[A-Za-z0-9._:-]{1,64}")

fun isTopic(text: String): Boolean = NAME.matches(text)

/** One client's place in one topic; its lock keeps what is published behind the answer to the request. */
class Subscription(private val client: Client) {
    private var closed = false

    /** Does [join] and answers, before anything that is published meanwhile. */
    @Synchronized
    fun open(answer: Message, join: () -> Unit) {
        join()
        client.send(answer)
    }

    /** Nothing is sent when this has returned. */
    @Synchronized
    fun close() {
        closed = true
    }

    @Synchronized
    fun send(message: Message) {
        if (!closed) {
            client.send(message)
        }
    }
}

/** What one client is subscribed to. It may close in one thread while another reads its last message. */
class Subscriptions {
    val own = ConcurrentHashMap<String, Subscription>()

    @Volatile
    var over = false
}

/** Who is subscribed to what. Holds no lock of its own while it sends, so that publications run side by side. */
class Topics {
    private val subscribers = ConcurrentHashMap<String, MutableSet<Subscription>>()

    /** Nothing of the topic comes before the answer. */
    fun subscribe(client: Client, topic: String, answer: Message) {
        val subscription = Subscription(client)
        if (client.subscriptions.own.putIfAbsent(topic, subscription) != null) {
            return client.send(answer)
        }
        subscription.open(answer) {
            subscribers.compute(topic) { _, present ->
                (present ?: ConcurrentHashMap.newKeySet()).also { it.add(subscription) }
            }
        }
        if (client.subscriptions.over) {
            remove(topic, subscription) // the client has closed meanwhile
        }
    }

    /** Nothing of the topic comes after the answer. */
    fun unsubscribe(client: Client, topic: String, answer: Message) {
        client.subscriptions.own.remove(topic)?.let {
            remove(topic, it)
            it.close()
        }
        client.send(answer)
    }

    /** Ends all subscriptions of a client that has closed. */
    fun leave(client: Client) {
        client.subscriptions.over = true
        client.subscriptions.own.forEach(::remove)
    }

    /** Queues the message on every subscriber's connection and then the result on the sender's. */
    fun publish(sender: Client, topic: String, message: Message, result: Message) {
        subscribers[topic]?.forEach { it.send(message) }
        sender.send(result)
    }

    private fun remove(topic: String, subscription: Subscription) {
        subscribers.computeIfPresent(topic) { _, all ->
            all.remove(subscription)
            all.ifEmpty { null }
        }
    }
}
