package shootout.vertx;

import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.http.WebSocketFrame;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.StandardCharsets;

/**
 * Whole messages from frames. The library's own handlers of whole messages lose one that begins with an
 * empty fragment, and take invalid UTF-8.
 */
final class Messages implements Handler<WebSocketFrame> {

    static final int LARGEST = 16 * 1024 * 1024;

    private static final short INVALID_UTF8 = 1007;
    private static final short TOO_BIG = 1009;

    private final ServerWebSocket socket;
    private final Handler<String> text;
    private final Handler<Buffer> binary;
    private final CharsetDecoder utf8 = StandardCharsets.UTF_8.newDecoder();
    private boolean isText;
    private Buffer message;

    Messages(ServerWebSocket socket, Handler<String> text, Handler<Buffer> binary) {
        this.socket = socket;
        this.text = text;
        this.binary = binary;
    }

    @Override
    public void handle(WebSocketFrame frame) {
        if (frame.isText() || frame.isBinary()) {
            isText = frame.isText();
            // An empty frame's buffer takes nothing more.
            message = frame.isFinal() ? frame.binaryData() : Buffer.buffer().appendBuffer(frame.binaryData());
        } else if (frame.isContinuation() && message != null) {
            if (message.length() + frame.binaryData().length() > LARGEST) {
                message = null;
                socket.close(TOO_BIG);
                return;
            }
            message = message.appendBuffer(frame.binaryData());
        } else {
            return;
        }
        if (frame.isFinal()) {
            Buffer whole = message;
            message = null;
            deliver(whole);
        }
    }

    private void deliver(Buffer whole) {
        if (!isText) {
            binary.handle(whole);
            return;
        }
        String decoded;
        try {
            decoded = utf8.decode(ByteBuffer.wrap(whole.getBytes())).toString();
        } catch (CharacterCodingException invalid) {
            socket.close(INVALID_UTF8);
            return;
        }
        text.handle(decoded);
    }
}
