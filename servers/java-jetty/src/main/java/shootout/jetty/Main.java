package shootout.jetty;

import com.fasterxml.jackson.databind.cfg.PackageVersion;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Jetty;
import org.eclipse.jetty.util.thread.Invocable.InvocationType;
import org.eclipse.jetty.websocket.server.ServerWebSocketContainer;
import org.eclipse.jetty.websocket.server.WebSocketCreator;
import org.eclipse.jetty.websocket.server.WebSocketUpgradeHandler;

import java.time.Duration;
import java.util.List;

/** Starts the server of docs/protocol.md on Jetty; it runs until a signal ends the process. */
public final class Main {

    private static final int LARGEST_MESSAGE = 16 * 1024 * 1024;

    /** The kernel lowers it to net.core.somaxconn. */
    private static final int BACKLOG = 4096;

    private Main() {}

    public static void main(String[] args) {
        try {
            Options options = Options.parse(args);
            if (options.help()) {
                System.out.print(Options.HELP);
            } else if (options.version()) {
                System.out.println("Jetty " + Jetty.VERSION + ", Jackson " + PackageVersion.VERSION
                        + ", Java " + Runtime.version());
            } else {
                listen(options);
            }
        } catch (IllegalArgumentException wrong) {
            fail(2, wrong.getMessage() + " (see --help)");
        }
    }

    private static void listen(Options options) {
        Server server = new Server();
        // no acceptor: the first selector accepts too
        ServerConnector connector = new ServerConnector(server, 0, options.threads());
        connector.setHost(options.host());
        connector.setPort(options.port());
        connector.setAcceptQueueSize(BACKLOG);
        server.addConnector(connector);
        server.setHandler(WebSocketUpgradeHandler.from(server, container -> configure(container, options)));
        try {
            server.start();
        } catch (Exception refused) {
            fail(1, "cannot listen on " + options.host() + " port " + options.port() + ": "
                    + (refused.getCause() == null ? refused : refused.getCause()).getMessage());
        }
    }

    private static void configure(ServerWebSocketContainer container, Options options) {
        container.setIdleTimeout(Duration.ZERO);
        container.setMaxFrameSize(LARGEST_MESSAGE);
        container.setMaxTextMessageSize(LARGEST_MESSAGE);
        container.setMaxBinaryMessageSize(LARGEST_MESSAGE);
        // Nothing here waits, so a selector's thread may call it and needs no other.
        container.setInvocationType(InvocationType.NON_BLOCKING);
        container.addMapping("/*", creator(options));
    }

    private static WebSocketCreator creator(Options options) {
        Hub hub = new Hub();
        return (request, response, callback) -> {
            if (!options.deflate()) {
                response.setExtensions(List.of()); // though the client may offer compression
            }
            return options.rawEcho() ? new RawEcho() : hub.join(new Protocol(hub), request);
        };
    }

    private static void fail(int status, String message) {
        System.err.println("java-jetty-server: " + message);
        System.exit(status);
    }
}
