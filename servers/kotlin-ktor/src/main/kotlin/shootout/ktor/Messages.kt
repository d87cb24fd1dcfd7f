package shootout.ktor

import io.ktor.websocket.CloseReason
import io.ktor.websocket.Frame
import io.ktor.websocket.WebSocketSession
import io.ktor.websocket.close
import io.ktor.websocket.readReason
import java.io.ByteArrayOutputStream
import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException

const val LARGEST_MESSAGE = 16 * 1024 * 1024

private class Refused(val code: CloseReason.Codes, words: String) : Exception(words)

/** Hands on whole messages until the connection ends, and does what Ktor leaves to a raw session. */
suspend fun WebSocketSession.messages(handle: (text: Boolean, bytes: ByteArray) -> Unit) {
    val parts = ByteArrayOutputStream(0)
    try {
        for (frame in incoming) {
            if (frame.rsv1 || frame.rsv2 || frame.rsv3) {
                throw Refused(CloseReason.Codes.PROTOCOL_ERROR, "reserved bit")
            }
            when (frame) {
                is Frame.Text, is Frame.Binary -> whole(frame, parts)?.let { handle(frame is Frame.Text, it) }
                is Frame.Ping -> send(Frame.Pong(frame.data))
                is Frame.Pong -> {}
                is Frame.Close -> return close(answer(frame))
            }
        }
    } catch (refused: Refused) {
        close(CloseReason(refused.code, refused.message!!))
    }
}

/** The message, when this frame is its last. */
private fun whole(frame: Frame, parts: ByteArrayOutputStream): ByteArray? {
    if (parts.size() + frame.data.size > LARGEST_MESSAGE) {
        throw Refused(CloseReason.Codes.TOO_BIG, "more than $LARGEST_MESSAGE bytes")
    }
    if (!frame.fin || parts.size() > 0) {
        parts.writeBytes(frame.data)
    }
    if (!frame.fin) {
        return null
    }
    val bytes = if (parts.size() > 0) parts.toByteArray().also { parts.reset() } else frame.data
    if (frame is Frame.Text && !isUtf8(bytes)) {
        throw Refused(CloseReason.Codes.NOT_CONSISTENT, "not UTF-8")
    }
    return bytes
}

private fun isUtf8(bytes: ByteArray): Boolean = try {
    Charsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes))
    true
} catch (_: CharacterCodingException) {
    false
}

private fun answer(close: Frame.Close): CloseReason {
    if (close.data.isEmpty()) {
        return CloseReason(CloseReason.Codes.NORMAL, "")
    }
    val reason = close.readReason()
    return when (reason?.code?.toInt()) {
        in 1000..1003, in 1007..1014, in 3000..4999 -> reason!!
        else -> CloseReason(CloseReason.Codes.PROTOCOL_ERROR, "close code")
    }
}
