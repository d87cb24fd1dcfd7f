package shootout.netty;

import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.compression.ZlibCodecFactory;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.websocketx.WebSocketDecoderConfig;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketServerExtensionHandler;
import io.netty.handler.codec.http.websocketx.extensions.compression.PerMessageDeflateServerExtensionHandshaker;
import io.netty.handler.ssl.SslContext;

import java.util.function.Supplier;

/** The pipeline of a connection, as in Netty's own WebSocket examples. */
final class ServerInitializer extends ChannelInitializer<SocketChannel> {

    private static final int LARGEST_MESSAGE = 16 * 1024 * 1024;
    private static final int LARGEST_HANDSHAKE = 65536;

    private final SslContext tls;
    private final boolean deflate;
    private final WebSocketServerProtocolConfig websocket;
    private final Supplier<MessageHandler> messages;

    /**
     * @param tls what connections are served over; null for plain TCP
     * @param deflate whether clients that offer it get compressed messages
     * @param messages makes the last handler of each connection
     */
    ServerInitializer(SslContext tls, boolean deflate, Supplier<MessageHandler> messages) {
        this.tls = tls;
        this.deflate = deflate;
        websocket = config(deflate);
        this.messages = messages;
    }

    @Override
    protected void initChannel(SocketChannel channel) {
        ChannelPipeline pipeline = channel.pipeline();
        if (tls != null) {
            pipeline.addLast(tls.newHandler(channel.alloc()));
        }
        pipeline.addLast(new HttpServerCodec());
        pipeline.addLast(new HttpObjectAggregator(LARGEST_HANDSHAKE));
        pipeline.addLast(new VersionFilter());
        if (deflate) {
            pipeline.addLast(new WebSocketServerExtensionHandler(compression()));
        }
        pipeline.addLast(new WebSocketServerProtocolHandler(websocket));
        pipeline.addLast(new WebSocketFrameAggregator(LARGEST_MESSAGE));
        pipeline.addLast(messages.get());
    }

    /** What WebSocketServerCompressionHandler has, and messages that each stand alone where a client asks. */
    private static PerMessageDeflateServerExtensionHandshaker compression() {
        return new PerMessageDeflateServerExtensionHandshaker(
                6,
                ZlibCodecFactory.isSupportingWindowSizeAndMemLevel(),
                PerMessageDeflateServerExtensionHandshaker.MAX_WINDOW_SIZE,
                true,
                true,
                LARGEST_MESSAGE);
    }

    private static WebSocketServerProtocolConfig config(boolean deflate) {
        return WebSocketServerProtocolConfig.newBuilder()
                .websocketPath("/")
                .checkStartsWith(true) // with "/": every path
                .decoderConfig(WebSocketDecoderConfig.newBuilder()
                        .allowExtensions(deflate)
                        .maxFramePayloadLength(LARGEST_MESSAGE)
                        .withUTF8Validator(true)
                        .build())
                // after a protocol error Netty would follow its own close frame with a second one
                .sendCloseFrame(null)
                .build();
    }
}
