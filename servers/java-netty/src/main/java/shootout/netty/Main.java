package shootout.netty;

import com.fasterxml.jackson.databind.cfg.PackageVersion;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.util.Version;

import java.io.File;
import java.util.Objects;
import javax.net.ssl.SSLException;

/** Starts the server of docs/protocol.md on Netty; it runs until a signal ends the process. */
public final class Main {

    private static final int MIB = 1024 * 1024;

    /** The kernel lowers it to net.core.somaxconn. */
    private static final int BACKLOG = 4096;

    private Main() {}

    public static void main(String[] args) {
        try {
            Options options = Options.parse(args);
            if (options.help()) {
                System.out.print(Options.HELP);
            } else if (options.version()) {
                System.out.println("Netty " + Version.identify().get("netty-codec-http").artifactVersion()
                        + ", Jackson " + PackageVersion.VERSION + ", Java " + Runtime.version());
            } else {
                listen(options);
            }
        } catch (IllegalArgumentException wrong) {
            fail(2, wrong.getMessage() + " (see --help)");
        }
    }

    private static void listen(Options options) {
        Transport transport = Transport.of(options.transport());
        if (transport.unavailable() != null) {
            fail(1, "this transport does not work here, take --transport nio: " + transport.unavailable());
        }
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(options.threads(), transport.handlers().get());
        Hub hub = new Hub(loops);
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(loops)
                .channel(transport.channel())
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                // past the high mark a channel is unwritable, and ProtocolHandler closes it
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(32 * MIB, 64 * MIB))
                .childHandler(new ServerInitializer(
                        tls(options),
                        options.deflate(),
                        options.rawEcho() ? RawEchoHandler::new : () -> new ProtocolHandler(hub)));
        Throwable cause = bootstrap.bind(options.host(), options.port()).awaitUninterruptibly().cause();
        if (cause != null) {
            fail(1, "cannot listen on " + options.host() + " port " + options.port() + ": "
                    + Objects.requireNonNullElse(cause.getMessage(), cause.getClass().getSimpleName()));
        }
    }

    /** What is served over; null without a certificate. */
    private static SslContext tls(Options options) {
        if (options.tlsCert() == null) {
            return null;
        }
        try {
            return SslContextBuilder.forServer(new File(options.tlsCert()), new File(options.tlsKey()))
                    .sslProvider(SslProvider.OPENSSL)
                    .build();
        } catch (SSLException unfit) {
            throw new IllegalArgumentException("--tls-cert and --tls-key: " + unfit.getMessage());
        }
    }

    private static void fail(int status, String message) {
        System.err.println("java-netty-server: " + message);
        System.exit(status);
    }
}
