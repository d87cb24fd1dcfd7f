package shootout.netty;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;

/** Sends every message back as it came, for Autobahn|Testsuite. */
final class RawEchoHandler extends MessageHandler {

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, WebSocketFrame message) {
        ctx.write(message.retain());
    }
}
