package shootout.ktor

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.DeserializationFeature
import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.json.JsonMapper
import com.fasterxml.jackson.databind.node.TextNode
import io.ktor.websocket.WebSocketSession

private val JSON = JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build()

/** The echo and broadcast requests of docs/protocol.md, text and binary, of one connection. */
suspend fun WebSocketSession.serve(client: Client, hub: Hub) = messages { text, bytes ->
    if (text) onText(hub, client, bytes.decodeToString()) else onBinary(hub, client, bytes)
}

/** Sends every message back as it came, for Autobahn|Testsuite. */
suspend fun WebSocketSession.rawEcho(client: Client) = messages { text, bytes -> client.send(Message(text, bytes)) }

private fun onText(hub: Hub, client: Client, message: String) {
    val request = try {
        JSON.readTree(message)
    } catch (_: JsonProcessingException) {
        return error(client, "malformed JSON")
    }
    val payload = request.get("payload")
    if (!request.isObject || payload == null) {
        return error(client, "not an object with a payload")
    }
    when (request.path("type").asText()) {
        "echo" -> client.send(text("echo", payload))
        "broadcast" -> hub.broadcast(client, text("broadcast", payload), text("broadcastResult", payload))
        else -> error(client, "unknown type")
    }
}

private fun onBinary(hub: Hub, client: Client, message: ByteArray) {
    when (message.firstOrNull()?.toInt()?.toChar()) {
        'e' -> client.send(Message(false, message))
        'b' -> {
            val result = message.clone().also { it[0] = 'r'.code.toByte() }
            hub.broadcast(client, Message(false, message), Message(false, result))
        }
        else -> error(client, "empty or of unknown type")
    }
}

private fun error(client: Client, words: String) = client.send(text("error", TextNode.valueOf(words)))

private fun text(type: String, payload: JsonNode): Message {
    val envelope = JSON.createObjectNode().put("type", type).set<JsonNode>("payload", payload)
    return Message(true, JSON.writeValueAsBytes(envelope))
}
