package shootout.ktor

import io.ktor.websocket.Frame
import io.ktor.websocket.WebSocketSession
import java.util.concurrent.atomic.AtomicLong
import kotlinx.coroutines.cancel
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.launch

private const val MOST_QUEUED = 64L * 1024 * 1024

/** What is handed to Ktor before it is asked whether that has been written. */
private const val BATCH = 64 * 1024

/** What is sent: the bytes are shared by all frames that are made of it. */
class Message(private val text: Boolean, val bytes: ByteArray) {
    fun frame(): Frame = if (text) Frame.Text(true, bytes) else Frame.Binary(true, bytes)
}

/** A connection, with a channel of what waits for it. It takes messages from the handshake on. */
class Client {
    val subscriptions = Subscriptions()
    private val waiting = Channel<Message>(Channel.UNLIMITED)
    private val queued = AtomicLong()

    @Volatile
    private var session: WebSocketSession? = null

    @Volatile
    private var cutOff = false

    /** Starts the coroutine that sends what waits. */
    fun open(opened: WebSocketSession) {
        session = opened
        if (cutOff) {
            opened.cancel()
            return
        }
        opened.launch {
            for (first in waiting) {
                opened.send(first.frame())
                var size = first.bytes.size.toLong()
                while (size < BATCH) {
                    val next = waiting.tryReceive().getOrNull() ?: break
                    opened.send(next.frame())
                    size += next.bytes.size
                }
                opened.flush()
                queued.addAndGet(-size)
            }
        }
    }

    /** Never waits. A client for whom 64 MiB wait already is cut off. */
    fun send(message: Message) {
        val size = message.bytes.size
        val before = queued.getAndAdd(size.toLong())
        // One message is always taken: JSON numbers may grow when they are written anew.
        if (before > 0 && before + size > MOST_QUEUED) {
            cutOff = true
            waiting.cancel()
            session?.cancel()
        } else {
            waiting.trySend(message)
        }
    }
}
