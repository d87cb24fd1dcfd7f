package shootout.netty;

import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.websocketx.WebSocketServerHandshakerFactory;
import io.netty.handler.codec.http.websocketx.WebSocketVersion;

/**
 * Lets through the requests that ask for version 13 (RFC 6455, section 4.2.1) and answers the others
 * with 426. Netty itself also speaks the drafts 0, 7 and 8, and takes a request without a version for
 * draft 0.
 */
final class VersionFilter extends ChannelInboundHandlerAdapter {

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        FullHttpRequest request = (FullHttpRequest) message;
        String version = request.headers().get(HttpHeaderNames.SEC_WEBSOCKET_VERSION);
        if (WebSocketVersion.V13.toHttpHeaderValue().contentEquals(version == null ? "" : version)) {
            ctx.fireChannelRead(request);
            ctx.pipeline().remove(this);
        } else {
            request.release();
            WebSocketServerHandshakerFactory.sendUnsupportedVersionResponse(ctx.channel())
                    .addListener(ChannelFutureListener.CLOSE);
        }
    }
}
