package shootout.helidon;

import io.helidon.common.Version;
import io.helidon.common.socket.SocketOptions;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.websocket.WsConfig;
import io.helidon.webserver.websocket.WsRouting;
import io.helidon.websocket.WsListener;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Starts the server of docs/protocol.md on Helidon; it runs until a signal ends the process. */
public final class Main {

    /** In bytes. The library needs the square of a frame's size in time, see README.md. */
    private static final int LARGEST_FRAME = 2 * 1024 * 1024;

    /** The kernel lowers it to net.core.somaxconn. */
    private static final int BACKLOG = 4096;

    /** The library has no value for "never". */
    private static final Duration IDLE = Duration.ofDays(365);

    /** Held here: the JDK keeps no logger that nothing else holds. */
    private static final Logger ROOT = Logger.getLogger("");

    private Main() {}

    public static void main(String[] args) {
        try {
            Options options = Options.parse(args);
            if (options.help()) {
                System.out.print(Options.HELP);
            } else if (options.version()) {
                System.out.println("Helidon " + Version.VERSION + ", Java " + Runtime.version());
            } else {
                listen(options);
            }
        } catch (IllegalArgumentException wrong) {
            fail(2, wrong.getMessage() + " (see --help)");
        }
    }

    private static void listen(Options options) {
        System.setProperty("jdk.virtualThreadScheduler.parallelism", Integer.toString(options.threads()));
        ROOT.setLevel(Level.OFF); // a line for each broken connection would be all that it holds
        WebServer server = WebServer.builder()
                .host(options.host())
                .port(options.port())
                .backlog(BACKLOG)
                .idleConnectionTimeout(IDLE)
                .connectionOptions(SocketOptions.builder()
                        .readTimeout(Duration.ZERO)
                        .tcpNoDelay(true)
                        .build())
                .addProtocol(WsConfig.builder().maxFrameLength(LARGEST_FRAME).build())
                .addRouting(WsRouting.builder().endpoint("/ws", listeners(options)))
                .build()
                .start();
        if (!server.isRunning()) {
            fail(1, "cannot listen on " + options.host() + " port " + options.port() + ": " + refusal(options));
        }
    }

    /** The library only logs why it has not started; the same is asked of the socket again. */
    private static String refusal(Options options) {
        try (ServerSocket probe = new ServerSocket()) {
            probe.bind(new InetSocketAddress(options.host(), options.port()));
            return "the library did not start";
        } catch (IOException refused) {
            return refused.getMessage();
        }
    }

    private static Supplier<WsListener> listeners(Options options) {
        Handler handler = options.rawEcho() ? new RawEcho() : new Protocol();
        return () -> new Connection(handler);
    }

    private static void fail(int status, String message) {
        System.err.println("java-helidon-server: " + message);
        System.exit(status);
    }
}
