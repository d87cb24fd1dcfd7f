package shootout.netty;

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;

import java.util.function.Supplier;

/**
 * How Netty talks to the kernel.
 *
 * @param unavailable why it does not work on this machine, or null
 */
record Transport(Supplier<IoHandlerFactory> handlers, Class<? extends ServerChannel> channel, Throwable unavailable) {

    static Transport of(Options.Transport name) {
        return switch (name) {
            case EPOLL -> new Transport(
                    EpollIoHandler::newFactory, EpollServerSocketChannel.class, Epoll.unavailabilityCause());
            case IO_URING -> new Transport(
                    IoUringIoHandler::newFactory, IoUringServerSocketChannel.class, IoUring.unavailabilityCause());
            case NIO -> new Transport(NioIoHandler::newFactory, NioServerSocketChannel.class, null);
        };
    }
}
