package shootout.ktor

import java.util.concurrent.ConcurrentHashMap

/** Every open connection. */
class Hub {
    val topics = Topics()
    private val clients = ConcurrentHashMap.newKeySet<Client>()

    fun join(client: Client) {
        clients.add(client)
    }

    fun leave(client: Client) {
        clients.remove(client)
        topics.leave(client)
    }

    /** Queues the message on every connection and then the result on the sender's. */
    fun broadcast(sender: Client, message: Message, result: Message) {
        clients.forEach { it.send(message) }
        sender.send(result)
    }
}
