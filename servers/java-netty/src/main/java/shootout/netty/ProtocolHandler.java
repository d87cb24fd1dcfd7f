package shootout.netty;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.TextNode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufInputStream;
import io.netty.buffer.ByteBufOutputStream;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** The requests of docs/protocol.md, text and binary, on whole messages. */
final class ProtocolHandler extends MessageHandler {

    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private static final String NO_TOPIC = "no topic of such a name";

    private final Hub hub;

    ProtocolHandler(Hub hub) {
        this.hub = hub;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) throws Exception {
        if (event instanceof WebSocketServerProtocolHandler.HandshakeComplete) {
            hub.join(ctx.channel());
        }
        super.userEventTriggered(ctx, event);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) throws Exception {
        hub.topics(ctx.channel()).forget(ctx.channel());
        super.channelInactive(ctx);
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, WebSocketFrame frame) throws IOException {
        if (frame instanceof BinaryWebSocketFrame) {
            onBinary(ctx, frame);
            return;
        }
        try {
            onText(ctx, frame.content());
        } catch (JsonProcessingException malformed) {
            error(ctx, "malformed JSON");
        }
    }

    private void onText(ChannelHandlerContext ctx, ByteBuf message) throws IOException {
        JsonNode request = JSON.readTree((InputStream) new ByteBufInputStream(message));
        JsonNode payload = request.get("payload");
        String type = request.path("type").asText();
        switch (type) {
            case "subscribe", "unsubscribe" -> onSubscription(ctx, type, request.path("topic"));
            default -> {
                if (!request.isObject() || payload == null) {
                    error(ctx, "not an object with a payload");
                } else {
                    onPayload(ctx, type, request.path("topic"), payload);
                }
            }
        }
    }

    private void onSubscription(ChannelHandlerContext ctx, String type, JsonNode name) throws IOException {
        if (!isTopic(name)) {
            error(ctx, NO_TOPIC);
            return;
        }
        String topic = name.textValue();
        if (type.equals("subscribe")) {
            hub.topics(ctx.channel()).subscribe(ctx.channel(), topic);
        } else {
            hub.topics(ctx.channel()).unsubscribe(ctx.channel(), topic);
        }
        ctx.write(text(ctx, JSON.createObjectNode().put("type", type + "d").put("topic", topic)));
    }

    private void onPayload(ChannelHandlerContext ctx, String type, JsonNode topic, JsonNode payload)
            throws IOException {
        switch (type) {
            case "echo" -> ctx.write(text(ctx, "echo", payload));
            case "broadcast" -> hub.broadcast(
                    ctx, text(ctx, "broadcast", payload), text(ctx, "broadcastResult", payload));
            case "publish" -> {
                if (isTopic(topic)) {
                    String name = topic.textValue();
                    hub.publish(ctx, name, text(ctx, "message", name, payload),
                            text(ctx, "publishResult", name, payload));
                } else {
                    error(ctx, NO_TOPIC);
                }
            }
            default -> error(ctx, "unknown type");
        }
    }

    private static boolean isTopic(JsonNode name) {
        return name.isTextual() && Topics.isName(name.textValue());
    }

    private void onBinary(ChannelHandlerContext ctx, WebSocketFrame frame) throws IOException {
        ByteBuf message = frame.content();
        if (!message.isReadable()) {
            error(ctx, "empty binary message");
            return;
        }
        switch (message.getByte(message.readerIndex())) {
            case 'e' -> ctx.write(frame.retain());
            case 'b' -> {
                ByteBuf result = ctx.alloc().ioBuffer(message.readableBytes()).writeBytes(message.duplicate());
                result.setByte(0, 'r');
                hub.broadcast(ctx, frame.retain(), new BinaryWebSocketFrame(result));
            }
            default -> error(ctx, "unknown type");
        }
    }

    private static void error(ChannelHandlerContext ctx, String words) throws IOException {
        ctx.write(text(ctx, "error", TextNode.valueOf(words)));
    }

    private static TextWebSocketFrame text(ChannelHandlerContext ctx, String type, JsonNode payload)
            throws IOException {
        return text(ctx, JSON.createObjectNode().put("type", type).set("payload", payload));
    }

    private static TextWebSocketFrame text(
            ChannelHandlerContext ctx, String type, String topic, JsonNode payload) throws IOException {
        return text(ctx, JSON.createObjectNode().put("type", type).put("topic", topic).set("payload", payload));
    }

    private static TextWebSocketFrame text(ChannelHandlerContext ctx, JsonNode message) throws IOException {
        // A direct buffer, as the sockets want it: a broadcast is then copied to none of them.
        ByteBuf buffer = ctx.alloc().ioBuffer();
        try {
            JSON.writeValue((OutputStream) new ByteBufOutputStream(buffer), message);
        } catch (IOException unwritable) {
            buffer.release();
            throw unwritable;
        }
        return new TextWebSocketFrame(buffer);
    }
}
