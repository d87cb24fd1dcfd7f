package shootout.ktor

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.DeserializationFeature
import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.json.JsonMapper
import com.fasterxml.jackson.databind.node.TextNode
import io.ktor.websocket.WebSocketSession

private val JSON = JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build()

private val ABOUT_TOPICS = setOf("subscribe", "unsubscribe", "publish")

/** The requests of docs/protocol.md, text and binary, of one connection. */
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
    val type = request.path("type").asText()
    val payload = request.get("payload")
    when {
        type in ABOUT_TOPICS -> onTopic(hub.topics, client, type, request)
        !request.isObject || payload == null -> error(client, "not an object with a payload")
        type == "echo" -> client.send(text("echo", payload))
        type == "broadcast" -> hub.broadcast(client, text("broadcast", payload), text("broadcastResult", payload))
        else -> error(client, "unknown type")
    }
}

private fun onTopic(topics: Topics, client: Client, type: String, request: JsonNode) {
    val topic = request.path("topic").textValue()
    if (topic == null || !isTopic(topic)) {
        return error(client, "no topic of such a name")
    }
    val payload = request.get("payload")
    when {
        type == "subscribe" -> topics.subscribe(client, topic, text("subscribed", topic))
        type == "unsubscribe" -> topics.unsubscribe(client, topic, text("unsubscribed", topic))
        payload == null -> error(client, "no payload")
        else ->
            topics.publish(client, topic, text("message", topic, payload), text("publishResult", topic, payload))
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
    return json(JSON.createObjectNode().put("type", type).set("payload", payload))
}

private fun text(type: String, topic: String, payload: JsonNode? = null): Message {
    val envelope = JSON.createObjectNode().put("type", type).put("topic", topic)
    return json(if (payload == null) envelope else envelope.set("payload", payload))
}

private fun json(message: JsonNode) = Message(true, JSON.writeValueAsBytes(message))
